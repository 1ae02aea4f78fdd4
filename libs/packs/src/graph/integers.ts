import { isRawNumber, ToolUserError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/**
 * An integer of Cypher has 64 bits, more than a number of JavaScript holds. It is a bigint only where a number would
 * not do.
 */
export type Numeric = number | bigint;

const limit = 2n ** 63n;

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** A number where it holds the integer, else the bigint. Throws ToolUserError beyond 64 bits. */
export function integer(value: bigint): Numeric {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  if (value >= limit || value < -limit)
    throw new ToolUserError(
      'The query holds or computes an integer of more than 64 bits, which the graph cannot hold.',
    );
  return value;
}

/** The value of a number’s text: exact if it is an integer. Null if it is none. */
export function numericOf(text: string): Numeric | null {
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) return integer(BigInt(trimmed.replace('+', '')));
  const number = trimmed === '' ? Number.NaN : Number(trimmed);
  return Number.isFinite(number) ? number : null;
}

/** As JSON has it: an integer beyond 2^53 with all its digits; what is no number, such as Infinity, as a text. */
export function jsonNumber(value: Numeric): JsonValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as unknown as JsonValue);
}

/** Whether a property may have the value that is kept as a text: an integer of 64 bits. */
export function isStorable(value: unknown): value is number {
  if (!isRawNumber(value)) return false;
  const { rawJSON } = value;
  if (!/^-?\d+$/.test(rawJSON)) return false;
  const exact = BigInt(rawJSON);
  return exact < limit && exact >= -limit;
}

/** A value of JSON (parseExactJson) for what computes. */
export function fromJson(value: JsonValue | undefined): JsonValue | bigint | readonly (JsonValue | bigint)[] {
  if (isRawNumber(value)) return (numericOf(value.rawJSON) ?? Number(value.rawJSON)) as number;
  if (Array.isArray(value)) return value.map((each: JsonValue) => fromJson(each) as JsonValue | bigint);
  return value ?? null;
}

const isWhole = (value: Numeric): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

/** Arithmetic of two numbers: exact for integers as far as 64 bits go. Null where there is no result. */
export function computed(operator: string, left: Numeric, right: Numeric): Numeric | null {
  const [a, b] = [Number(left), Number(right)];
  if ((operator === '/' || operator === '%') && b === 0) return null;
  const plain = inNumbers(operator, a, b);
  if (!isWhole(left) || !isWhole(right)) return plain;
  const isExact = typeof left === 'number' && typeof right === 'number' && (operator === '/' || isWhole(plain));
  return isExact ? plain : inIntegers(operator, BigInt(left), BigInt(right), plain);
}

function inNumbers(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return a % b;
  }
}

function inIntegers(operator: string, a: bigint, b: bigint, plain: number): Numeric {
  switch (operator) {
    case '+':
      return integer(a + b);
    case '-':
      return integer(a - b);
    case '*':
      return integer(a * b);
    case '/':
      return a % b === 0n ? integer(a / b) : plain;
    default:
      return integer(a % b);
  }
}
