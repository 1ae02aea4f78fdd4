import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** The keyword by which a schema asks for an argument as an HTTP header too (SEP-2243), for gateways that route by it. */
const keyword = 'x-mcp-header';
const prefix = 'Mcp-Param-';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const kinds: readonly unknown[] = ['string', 'integer', 'boolean'];

interface HeaderArgument {
  /** Property by property from the arguments down. */
  readonly path: readonly string[];
  readonly header: string;
}

/** The arguments that a tool wants as headers too; null where its schema asks in a way that the protocol does not permit. */
export function headerArgumentsIn(schema: JsonObject): readonly HeaderArgument[] | null {
  // Most schemas have none, and then need no walk.
  if (!JSON.stringify(schema).includes(`"${keyword}"`)) return [];
  const found: HeaderArgument[] = [];
  let isSound = true;
  const visit = (node: JsonValue | undefined, path: readonly string[], isReachable: boolean): void => {
    if (Array.isArray(node)) for (const item of node as readonly JsonValue[]) visit(item, path, false);
    if (!isJsonObject(node)) return;
    const header = node[keyword];
    if (header !== undefined) {
      if (
        typeof header === 'string' &&
        token.test(header) &&
        isReachable &&
        path.length > 0 &&
        kinds.includes(node['type'])
      )
        found.push({ path, header });
      else isSound = false;
    }
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isJsonObject(value))
        for (const [name, property] of Object.entries(value)) visit(property, [...path, name], isReachable);
      else if (key !== keyword) visit(value, path, false);
    }
  };
  visit(schema, [], true);
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  return isSound && names.size === found.length ? found : null;
}

/** The headers of a call. An argument that is missing, or of another kind than its schema says, has none. */
export function headersOf(wanted: readonly HeaderArgument[], args: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    wanted.flatMap(({ path, header }) => {
      const value = textOf(valueAt(args, path));
      return value === null ? [] : [[prefix + header, inHeader(value)]];
    }),
  );
}

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let node: JsonValue | undefined = args;
  for (const name of path) node = isJsonObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  return node;
}

function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return null;
}

/** As it is where a header can carry it; else as base64 of its UTF-8 bytes, marked as such. */
function inHeader(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
