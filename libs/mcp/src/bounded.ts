import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** How long texts and lists may be, in characters and items: the first pair under which a value fits is used. */
const limits = [
  { text: 4_000, items: 200 },
  { text: 1_000, items: 100 },
  { text: 400, items: 50 },
  { text: 160, items: 25 },
  { text: 80, items: 10 },
  { text: 40, items: 4 },
] as const;

export interface Bounded {
  readonly value: JsonValue;
  /** Whether something was left out. Lists then end with an entry that says how much of them. */
  readonly isCut: boolean;
}

/** The value with its long texts and lists cut until its JSON has at most so many bytes. */
export function bounded(value: JsonValue, mostBytes: number): Bounded {
  if (bytesOf(value) <= mostBytes) return { value, isCut: false };
  for (const limit of limits) {
    const cut = cutTo(value, limit);
    if (bytesOf(cut) <= mostBytes) return { value: cut, isCut: true };
  }
  return { value: { left_out: 'It is too large to be shown. Ask for less of it.' }, isCut: true };
}

function cutTo(value: JsonValue, limit: (typeof limits)[number]): JsonValue {
  if (typeof value === 'string')
    return value.length <= limit.text
      ? value
      : `${value.slice(0, limit.text).toWellFormed()}… (${value.length} characters)`;
  if (Array.isArray(value)) {
    const kept: JsonValue[] = value.slice(0, limit.items).map((one: JsonValue) => cutTo(one, limit));
    return value.length <= limit.items ? kept : [...kept, { left_out: value.length - limit.items }];
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTo(one, limit)])) as JsonObject;
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}
