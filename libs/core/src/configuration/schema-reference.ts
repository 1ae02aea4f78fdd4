import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';

/** The schema that a reference within one document names by its JSON pointer (RFC 6901, in a URI's fragment); null if there is none. */
export function found(root: JsonObject, reference: string): JsonObject | null {
  const pointer = decoded(reference.slice(1));
  if (pointer === null || (pointer !== '' && !pointer.startsWith('/'))) return null;
  let at: JsonValue = root;
  for (const step of pointer.split('/').slice(1)) {
    const next = member(at, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    // Behind an `$id` of its own, pointers count from there.
    if (next === undefined || (isJsonObject(next) && ownBase(next, root))) return null;
    at = next;
  }
  return isJsonObject(at) ? at : null;
}

/** Whether references inside a schema that is not the root are counted from it; `id` says so in drafts 3 and 4 only. */
export function ownBase(schema: JsonObject, { $schema: dialect }: JsonObject): boolean {
  const old = typeof dialect === 'string' && /draft-0[34]/.test(dialect);
  return typeof schema[old ? 'id' : '$id'] === 'string';
}

function member(value: JsonValue, name: string): JsonValue | undefined {
  if (Array.isArray(value))
    return /^(0|[1-9]\d{0,8})$/.test(name) ? (value as readonly JsonValue[])[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function decoded(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
