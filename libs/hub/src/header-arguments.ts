import { isJsonObject, printable } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/**
 * The keyword by which a schema asks for an argument as an HTTP header too (SEP-2243), for gateways that route by it.
 */
const keyword = 'x-mcp-header';
const prefix = 'Mcp-Param-';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const kinds: readonly unknown[] = ['string', 'integer', 'boolean'];

interface HeaderArgument {
  /** Property by property from the arguments down. */
  readonly path: readonly string[];
  readonly header: string;
}

/**
 * The arguments that a tool wants as headers too, and why the protocol does not permit what its schema asks for, a
 * sentence each.
 */
export interface HeaderArguments {
  readonly wanted: readonly HeaderArgument[];
  readonly problems: readonly string[];
}

export function headerArgumentsIn(schema: JsonObject): HeaderArguments {
  // Most schemas have none, and then need no walk.
  if (!JSON.stringify(schema).includes(`"${keyword}"`)) return { wanted: [], problems: [] };
  const wanted: HeaderArgument[] = [];
  const problems: string[] = [];
  const names = new Map<string, string>();
  const visit = (node: JsonValue | undefined, at: string, path: readonly string[] | null): void => {
    if (Array.isArray(node))
      for (const [place, item] of (node as readonly JsonValue[]).entries()) visit(item, `${at}/${place}`, null);
    if (!isJsonObject(node)) return;
    const header = node[keyword];
    if (header !== undefined) {
      const problem = problemOf(header, node['type'], path, names);
      if (problem !== null) problems.push(`At ${printable(at) || '/'}: ${problem}.`);
      else if (typeof header === 'string' && path !== null) {
        names.set(header.toLowerCase(), printable(at));
        wanted.push({ path, header });
      }
    }
    for (const [key, value] of Object.entries(node)) {
      const below = `${at}/${pointer(key)}`;
      if (key === 'properties' && isJsonObject(value))
        for (const [name, property] of Object.entries(value))
          visit(property, `${below}/${pointer(name)}`, path === null ? null : [...path, name]);
      else if (key !== keyword) visit(value, below, null);
    }
  };
  visit(schema, '', []);
  return { wanted, problems };
}

/**
 * Why this schema, at this path of properties from the arguments down (null where no such path leads to it), may not
 * ask for this header.
 */
function problemOf(
  header: JsonValue,
  type: JsonValue | undefined,
  path: readonly string[] | null,
  names: ReadonlyMap<string, string>,
): string | null {
  if (typeof header !== 'string' || !token.test(header)) return 'the name of the header is none that HTTP permits';
  if (path === null || path.length === 0)
    return 'only a property of the arguments, or of objects within them, can be a header';
  if (!kinds.includes(type)) return 'only texts, integers and booleans can be headers';
  const other = names.get(header.toLowerCase());
  return other === undefined ? null : `the header has the same name as that of ${other}`;
}

/** A step of a JSON pointer. */
function pointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
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
