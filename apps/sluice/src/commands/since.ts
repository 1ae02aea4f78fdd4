import { readDate } from '../read-words.js';

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

/** A time in the past, as `90s`, `30m`, `12h`, `7d` before now, or as a date such as 2026-11-22T05:00Z. Milliseconds since the epoch. */
export function readSince(option: string, text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (units[unit] as number);
  const date = readDate(text);
  if (Number.isNaN(date))
    throw new Error(`${option} is "${text}"; write how long ago, as 30m, 12h or 7d, or a date as 2026-11-22T05:00Z.`);
  return date;
}
