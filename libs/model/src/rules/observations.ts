import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, parseExactJson } from '@sluice/core';

/** The JSON value of an observation with its numbers as they were written, undefined where it is plain text. */
export function jsonOf(observation: string): JsonValue | undefined {
  if (!/^\s*[[{"\d-]|^\s*(?:true|false|null)\s*$/.test(observation)) return undefined;
  try {
    return parseExactJson(observation);
  } catch {
    return undefined;
  }
}

/**
 * The table in a value: itself if it is a list of objects, else its first property that is one; undefined where there
 * is none.
 */
export function rowsOf(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  if (isRows(value)) return value;
  return isJsonObject(value) ? Object.values(value).find(isRows) : undefined;
}

function isRows(value: JsonValue | undefined): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}

/** A result's own words, where it has any. */
export function wordsOfResult(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return undefined;
  return ['summary', 'answer', 'text', 'message']
    .map((key) => value[key])
    .find((each) => typeof each === 'string' && each !== '') as string | undefined;
}

const labelColumns = ['name', 'label', 'title'];

/** What a row is called: its name or label, else its first text. */
export function labelOf(row: JsonObject): string | undefined {
  const named = Object.entries(row).find(([key, value]) => labelColumns.includes(key.toLowerCase()) && isText(value));
  return (named ?? Object.entries(row).find(([, value]) => isText(value)))?.[1] as string | undefined;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/** A value in one line, for an answer. */
export function inOneLine(value: JsonValue): string {
  if (Array.isArray(value)) return listed(value.map((item: JsonValue) => inOneLine(item)));
  if (isJsonObject(value)) {
    return Object.entries(value)
      .map(([key, each]) => `${key}: ${inOneLine(each)}`)
      .join(', ');
  }
  return isRawNumber(value) ? value.rawJSON : String(value);
}

/** "Austria, France and Italy". */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}
