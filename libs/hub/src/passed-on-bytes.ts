import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** Bytes in Base64 of fewer characters stay where they are. */
const fewCharacters = 1_024;

/** What a server has of resources or prompts. */
export interface Given {
  readonly value: JsonValue;
  /** Where there are bytes in it: the value without them, and blocks as an answer of a tool has them. */
  readonly apart?: { readonly value: JsonValue; readonly answer: JsonObject };
}

/** An answer, and apart from it what a list in it has of bytes. `blockOf` makes a block of an entry of the list. */
export function withoutBytes(
  given: JsonObject,
  list: 'contents' | 'messages',
  blockOf: (entry: JsonObject) => JsonObject,
): Given {
  const entries = (given[list] as readonly JsonValue[]).filter(isJsonObject);
  const left = entries.map(emptied);
  if (left.every((entry, at) => entry === entries[at])) return { value: given };
  const { [list]: _, ...rest } = given;
  const roles = list === 'messages' ? { roles: entries.map(({ role = null }) => role) } : {};
  const answer = { ...rest, ...roles, content: entries.map(blockOf) };
  return { value: given, apart: { value: { ...given, [list]: left }, answer } };
}

/** The same without bytes; the value itself where it has none. */
function emptied(value: JsonObject): JsonObject {
  const inside = ['content', 'resource'].flatMap((name): (readonly [string, JsonValue])[] => {
    const member = value[name];
    if (!isJsonObject(member)) return [];
    const left = emptied(member);
    return left === member ? [] : [[name, left]];
  });
  const bytes = ['blob', 'data'].find((name) => typeof value[name] === 'string' && value[name].length > fewCharacters);
  if (inside.length === 0 && bytes === undefined) return value;
  const kept = { ...value, ...Object.fromEntries(inside) };
  if (bytes === undefined) return kept;
  const { [bytes]: base64, ...others } = kept;
  return { ...others, bytes: Buffer.byteLength(base64 as string, 'base64') };
}
