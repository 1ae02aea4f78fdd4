/** From when until when something went on, in milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface TimeScale extends Span {
  /** The place of a moment, from 0 to 1. */
  readonly at: (moment: number) => number;
  /** Times in which nothing went on, which are drawn short. */
  readonly idle: readonly Span[];
}

/** So long nothing has to go on for it to be idle time. */
export const idleMs = 5_000;
/** The part of the whole that one idle time is drawn as. */
const idleShare = 0.03;

/** Where moments are drawn: to scale while something goes on, and idle times short. Null where nothing has a time. */
export function timeScale(spans: readonly Span[]): TimeScale | null {
  const busy = merged(spans);
  const first = busy[0];
  const last = busy.at(-1);
  if (first === undefined || last === undefined) return null;
  const idle: Span[] = [];
  for (const [n, span] of busy.entries()) {
    const next = busy[n + 1];
    if (next !== undefined && next.from - span.to > idleMs) idle.push({ from: span.to, to: next.from });
  }
  const whole = last.to - first.from;
  const idleTotal = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  const drawn = Math.max(1, whole - idleTotal);
  const each = Math.min(idleShare, 0.5 / Math.max(1, idle.length));
  const share = 1 - each * idle.length;
  const before = offsets(idle);
  const at = (moment: number): number => {
    const t = Math.min(last.to, Math.max(first.from, moment));
    const n = count(idle, t);
    const gap = idle[n - 1];
    const spent = t - first.from - (before[n] ?? 0);
    // Within an idle time: so much of its short width.
    if (gap !== undefined && t < gap.to) {
      const start = gap.from - first.from - (before[n - 1] ?? 0);
      return (start / drawn) * share + each * (n - 1) + each * ((t - gap.from) / (gap.to - gap.from));
    }
    return (spent / drawn) * share + each * n;
  };
  return { from: first.from, to: last.to, at, idle };
}

/** Spans in order, those that touch as one. */
function merged(spans: readonly Span[]): Span[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to: Math.max(from, to) });
  }
  return found;
}

/** How long the idle times before the n-th are together. */
function offsets(idle: readonly Span[]): readonly number[] {
  const sums = [0];
  for (const { from, to } of idle) sums.push((sums.at(-1) ?? 0) + to - from);
  return sums;
}

/** How many idle times began before the moment. */
function count(idle: readonly Span[], moment: number): number {
  let low = 0;
  let high = idle.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((idle[middle]?.from ?? 0) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
