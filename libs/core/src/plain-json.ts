import { type JsonObject, type JsonValue, isRawNumber } from './json.js';

/** A value that no JSON text can carry: the sentence says what it holds. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
}

/** A value whose JSON text would be longer than allowed. Nothing beyond the limit was looked at. */
export class JsonTooLargeError extends Error {
  override readonly name = 'JsonTooLargeError';
}

/** Values nested deeper than this are no sensible data, and too deep for what walks them. */
export const deepestJson = 128;

/** Whether a value is nested deeper than so many levels; a flat value has none. Looks no deeper than that. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item: JsonValue) => isDeeperThan(item, levels - 1));
  for (const key of Object.keys(value))
    if (isDeeperThan((value as JsonObject)[key] as JsonValue, levels - 1)) return true;
  return false;
}

/**
 * UTF-8 bytes of a value’s JSON text, without writing it. Throws JsonTooLargeError as soon as there are more than
 * `atMost`, so that a value of a gigabyte costs no more than one of the limit, and NotJsonError for what is no JSON
 * or deeper than 128 levels (L-04).
 */
export function jsonBytes(value: unknown, atMost: number): number {
  return measure(value, atMost, 0);
}

/** Whether a value’s JSON text has at most so many bytes. Throws NotJsonError. */
export function fitsIn(value: JsonValue, bytes: number): boolean {
  try {
    jsonBytes(value, bytes);
    return true;
  } catch (error) {
    if (error instanceof JsonTooLargeError) return false;
    throw error;
  }
}

function measure(value: unknown, left: number, depth: number): number {
  const isInside = typeof value === 'object' && value !== null && !isRawNumber(value);
  const bytes = isInside ? measureInside(value, left, depth) : scalarBytes(value, left);
  if (bytes > left) throw new JsonTooLargeError('The value is larger than the limit.');
  return bytes;
}

function measureInside(value: object, left: number, depth: number): number {
  if (depth >= deepestJson) throw new NotJsonError(`It is nested deeper than ${String(deepestJson)} levels.`);
  let bytes = 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) bytes += 1 + measure(value[at], left - bytes, depth + 1);
    return Math.max(2, bytes);
  }
  for (const key of keysOf(value)) {
    bytes += 2 + scalarBytes(key, left);
    bytes += measure((value as Members)[key], left - bytes, depth + 1);
  }
  return Math.max(2, bytes);
}

function scalarBytes(value: unknown, left: number): number {
  switch (typeof value) {
    case 'string':
      return value.length > left ? Infinity : textBytes(value);
    case 'boolean':
      return value ? 4 : 5;
    case 'number':
      if (Number.isFinite(value)) return String(value).length;
      break;
    case 'object':
      if (value === null) return 4;
      if (isRawNumber(value)) return value.rawJSON.length;
      break;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      break;
  }
  throw new NotJsonError(
    `It holds ${typeof value === 'number' ? String(value) : `a ${typeof value}`}, which JSON has not.`,
  );
}

/** Bytes of a text in JSON: its quotes, and what has to be escaped. */
function textBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22 || unit === 0x5c) bytes += 2;
    else if (unit < 0x20) bytes += '\b\t\n\f\r'.includes(text.charAt(at)) ? 2 : 6;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 4;
      at++;
    } else bytes += 6;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * The same value as plain JSON: each member read once, so that getters and proxies can say nothing else later;
 * members that are undefined left out, as JSON text would. Throws NotJsonError (numbers that are not finite, bigint,
 * functions, dates and other instances, cycles, too deep) and JsonTooLargeError (L-04).
 */
export function plainJson(value: unknown, atMost: number): JsonValue {
  return copy(value, { left: atMost }, 0);
}

function copy(value: unknown, budget: { left: number }, depth: number): JsonValue {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) {
    if (typeof value === 'string' && budget.left === Infinity) return value; // no limit, so its length does not matter
    budget.left -= scalarBytes(value, budget.left);
    if (budget.left < 0) throw new JsonTooLargeError('The value is larger than the limit.');
    return value as JsonValue;
  }
  if (depth >= deepestJson) throw new NotJsonError(`It is nested deeper than ${String(deepestJson)} levels.`);
  budget.left -= 2;
  if (Array.isArray(value)) {
    if (value.length > budget.left) throw new JsonTooLargeError('The value is larger than the limit.');
    const items: JsonValue[] = [];
    for (let at = 0, length = value.length; at < length; at++) items.push(copy(value[at], budget, depth + 1));
    return items;
  }
  const copied: Record<string, JsonValue> = {};
  for (const key of keysOf(value)) {
    const item = (value as Members)[key];
    if (item === undefined) continue;
    budget.left -= scalarBytes(key, budget.left) + 1;
    // An assignment to `__proto__` would change the prototype instead of making a member.
    if (key === '__proto__') Object.defineProperty(copied, key, { ...member, value: copy(item, budget, depth + 1) });
    else copied[key] = copy(item, budget, depth + 1);
  }
  return copied;
}

type Members = Readonly<Record<string, unknown>>;

const member = { enumerable: true, configurable: true, writable: true } as const;

/**
 * The names of a plain object’s members, of whatever realm; instances of classes are no JSON, whatever their toJSON
 * would say.
 */
function keysOf(value: object): readonly string[] {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new NotJsonError('It holds an instance of a class; return a plain object.');
  }
  return Object.keys(value);
}
