import { type JsonObject, type JsonValue, isJsonObject, isRawNumber } from './json.js';

/**
 * A number literal that JavaScript would write differently: more digits than a double has, an exponent, a trailing
 * zero, minus zero. Only a text that may hold one is parsed with a reviver, which is several times as slow. What this
 * finds inside strings costs no more than that.
 */
const mayHoldOne = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|-0/;

/** False for a text that JSON.parse reads as parseExactJson does. */
export function mayHoldRawNumbers(text: string): boolean {
  return mayHoldOne.test(text);
}

/**
 * JSON text as a value that is written again with the very number literals it had. A literal that JavaScript would
 * write differently is kept as its text (JSON.rawJSON); every other number is a number. Throws SyntaxError for text
 * that is not JSON.
 */
export function parseExactJson(text: string): JsonValue {
  if (!mayHoldRawNumbers(text)) return JSON.parse(text) as JsonValue;
  try {
    return JSON.parse(text, asWritten) as JsonValue;
  } catch (error) {
    // A reviver goes down level by level; a value that is too deep for that is too deep for every limit, whatever its
    // numbers.
    if (error instanceof RangeError) return JSON.parse(text) as JsonValue;
    throw error;
  }
}

function asWritten(_key: string, value: JsonValue, { source }: { readonly source?: string }): JsonValue {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return JSON.rawJSON(source) as unknown as JsonValue;
}

/**
 * The value with plain numbers, as far as a double can hold them: for code that checks or computes, not for code that
 * passes it on.
 */
export function withPlainNumbers(value: JsonValue): JsonValue {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map((item: JsonValue) => withPlainNumbers(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]));
}

/**
 * Paths of the numbers that a double cannot hold, as keys from the root: integers beyond 2^53, more digits than fit,
 * 1e400.
 */
export function inexactNumbers(value: JsonValue, path: readonly string[] = []): readonly (readonly string[])[] {
  if (isRawNumber(value)) return isSameNumber(value.rawJSON) ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as JsonObject).flatMap(([key, member]) => inexactNumbers(member, [...path, key]));
}

/** Whether any number in the value is kept as its text. */
export function hasRawNumbers(value: JsonValue): boolean {
  if (isRawNumber(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value as JsonObject).some(hasRawNumbers);
}

/**
 * Whether a double is exactly what the literal says, up to how it is written: 1.0 and 1e2 are, 9007199254740993 is
 * not.
 */
function isSameNumber(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && decimal(literal) === decimal(String(number));
}

/** Sign, digits without zeros at either end, and the power of ten of the last digit. */
function decimal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + (digits.length - short.length)}`;
}
