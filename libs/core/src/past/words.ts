import type { PastSpan, TotalLimit } from './types.js';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A span as a configuration has it: `90m`, `1d`. */
export function spanInWords(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms % one === 0) ?? ['ms', 1];
  return `${String(ms / size)}${unit}`;
}

/** `in the session, in the last 1h`. */
export function pastInWords({ within, inLastMs }: PastSpan): string {
  const of = within === 'user' ? 'by the user' : within === 'tenant' ? 'of the tenant' : `in the ${within}`;
  return `${of}, in the last ${spanInWords(inLastMs)}`;
}

/** `per user within 1d`. */
export function totalSpanInWords({ per, withinMs }: Pick<TotalLimit, 'per' | 'withinMs'>): string {
  return `per ${per} within ${spanInWords(withinMs)}`;
}
