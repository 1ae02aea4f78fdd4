const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

/** How times are written in parameters, as their descriptions say it. */
export const timeForms =
  'milliseconds since the epoch, a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m, 12h or 7d';

/** A time in milliseconds since the epoch, of a parameter; NaN for what is none. */
export function timeOf(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (units[unit] ?? NaN);
  return /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
}
