import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** What the draft that a schema names changes about references; one that names none is of a later draft. */
export interface Dialect {
  /** The keyword that makes a schema one that references inside it are counted from. */
  readonly id: 'id' | '$id';
  /** What stands beside a `$ref` does not count. */
  readonly refStandsAlone: boolean;
}

export function dialectOf({ $schema: named }: JsonObject): Dialect {
  const draft = typeof named === 'string' ? /draft-0([3-7])/.exec(named.slice(0, 100))?.[1] : undefined;
  return { id: draft === '3' || draft === '4' ? 'id' : '$id', refStandsAlone: draft !== undefined };
}

/**
 * The schema that a reference within one document names by its JSON pointer (RFC 6901, in a URI's fragment); null if
 * there is none.
 */
export function found(root: JsonObject, reference: string): JsonObject | null {
  const pointer = decoded(reference.slice(1));
  if (pointer === null || (pointer !== '' && !pointer.startsWith('/'))) return null;
  let at: JsonValue = root;
  for (const step of pointer.split('/').slice(1)) {
    const next = member(at, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === undefined) return null;
    at = next;
  }
  return isJsonObject(at) ? at : null;
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
