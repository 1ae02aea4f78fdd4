/** One, in millionths: all amounts are whole numbers of these, so that sums of decimals are exact. */
export const oneAmount = 1_000_000n;

/** The largest number that is counted: beyond it a database has no room. */
export const largestAmount = 9_000_000_000_000;

/** A number in millionths, rounded up; null for what cannot be counted. */
export function amountOf(value: unknown): bigint | null {
  if (typeof value !== 'number' || !(value >= 0 && value <= largestAmount)) return null;
  const millionths = Math.round(value * 1e6);
  return BigInt(millionths / 1e6 === value ? millionths : Math.ceil(value * 1e6));
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
  const [, units, decimals = ''] = /^(\d{1,20})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return units === undefined ? null : BigInt(units) * oneAmount + BigInt(decimals.padEnd(6, '0'));
}
