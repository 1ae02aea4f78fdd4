import type { RunEvent } from '@sluice/client';

/** How numbers, times and money are written, in the reader’s language where it has a form for them. */
const language = globalThis.navigator?.language ?? 'en';
const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const whole = new Intl.NumberFormat(language);
const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });

export const dateTime = (at: number): string => exact.format(at);
export const utc = (at: number): string => new Date(at).toISOString();
export const count = (value: number): string => whole.format(value);
export const short = (value: number): string => (Math.abs(value) < 10_000 ? count(value) : compact.format(value));

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

export function relative(at: number, now: number): string {
  const difference = at - now;
  for (const [unit, ms] of units) if (Math.abs(difference) >= ms) return ago.format(Math.trunc(difference / ms), unit);
  return 'now';
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** US dollars of millionths of a dollar. */
export function money(microUsd: number): string {
  const dollars = microUsd / 1_000_000;
  if (dollars === 0) return '$0';
  return dollars < 0.01 ? `$${dollars.toPrecision(2)}` : `$${dollars.toFixed(2)}`;
}

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  return size < 1_048_576 ? `${(size / 1_024).toFixed(1)} KB` : `${(size / 1_048_576).toFixed(1)} MB`;
}

/** What a tool reports while it works: its words, with the numbers that its server gives. */
export function reported({ text, progress, total }: Extract<RunEvent, { type: 'tool_progress' }>): string {
  if (progress === null) return text;
  const numbers = total === null ? String(progress) : `${progress} of ${total}`;
  return text === '' ? numbers : `${text} (${numbers})`;
}
