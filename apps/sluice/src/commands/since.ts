import { durationMs } from '@sluice/core';
import { readDate } from '../read-words.js';

/**
 * A time in the past, as `90s`, `30m`, `12h`, `7d` before now, or as a date such as 2026-11-22T05:00Z. Milliseconds
 * since the epoch.
 */
export function readSince(option: string, text: string, now: number): number {
  const ago = durationMs(text);
  if (!Number.isNaN(ago)) return now - ago;
  const date = readDate(text);
  if (Number.isNaN(date))
    throw new Error(`${option} is "${text}"; write how long ago, as 30m, 12h or 7d, or a date as 2026-11-22T05:00Z.`);
  return date;
}
