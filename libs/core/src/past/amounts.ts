import { isRawNumber } from '../json.js';

/** One, in millionths: all amounts are whole numbers of these, so that sums of decimals are exact. */
export const oneAmount = 1_000_000n;

/** The largest number that is counted: beyond it a database has no room. */
export const largestAmount = 9_000_000_000_000;
/** The same in millionths, and its digits. */
const mostMillionths = BigInt(largestAmount) * oneAmount;
const mostDigits = mostMillionths.toString().length;

/** A number in millionths, as its digits say, rounded up; null for what cannot be counted. */
export function amountOf(value: unknown): bigint | null {
  const text = typeof value === 'number' ? String(value) : isRawNumber(value) ? value.rawJSON : '';
  const [, whole, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  // How many of the digits stand before the end of the millionths.
  const places = digits.length - fraction.length + Number(exponent) + 6;
  if (places > mostDigits) return null;
  const rest = /[1-9]/.test(digits.slice(Math.max(0, places))) ? 1n : 0n;
  const amount = BigInt(digits.slice(0, Math.max(0, places)).padEnd(Math.max(0, places), '0')) + rest;
  return amount <= mostMillionths ? amount : null;
}

/** Millionths as a decimal number without needless zeros. */
export function decimalOf(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -6)}${decimals === '' ? '' : `.${decimals}`}`;
}

/** The millionths of a decimal number as a record has it; null for what is none. */
export function amountFrom(text: string): bigint | null {
  const [, units, decimals = ''] = /^(\d{1,30})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return units === undefined ? null : BigInt(units) * oneAmount + BigInt(decimals.padEnd(6, '0'));
}

/** What they add up to; null where one of them, or all together, cannot be counted. */
export function sumOf(values: readonly unknown[]): bigint | null {
  let sum = 0n;
  for (const value of values) {
    const amount = amountOf(value);
    if (amount === null) return null;
    sum += amount;
  }
  return sum <= mostMillionths ? sum : null;
}
