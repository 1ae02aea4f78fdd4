import { durationMs } from '@sluice/core';

/** How times are written in parameters, as their descriptions say it. */
export const timeForms =
  'milliseconds since the epoch, a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m, 12h or 7d';

/** Times as the description of the gateway gives them; `Date.parse` reads others too. */
export const timeForm =
  /^(?:\d{1,15}|\d{1,6}(?:ms|s|m|h|d)|\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?Z)?)$/;

/** A time in milliseconds since the epoch, of a parameter; NaN for what is none. */
export function timeOf(text: string, now: number): number {
  const ago = durationMs(text);
  if (!Number.isNaN(ago)) return now - ago;
  return /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
}
