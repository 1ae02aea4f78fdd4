const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** The milliseconds of a duration such as `2s`, `500ms` or `1.5m`; NaN for what is none. */
export function durationMs(value: unknown): number {
  const [, amount, unit] = (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value)) || [];
  return Number(amount) * units[unit as keyof typeof units];
}

/** A duration as its seconds, for keys in seconds; whatever else stands there as it is. */
export function secondsOf(value: unknown): unknown {
  const ms = durationMs(value);
  return Number.isNaN(ms) ? value : ms / 1_000;
}
