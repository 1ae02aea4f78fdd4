const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 } as const;

/** The milliseconds of a duration such as `500ms`, `90s`, `1.5m`, `2h` or `7d`; NaN for what is none. */
export function durationMs(value: unknown): number {
  const [, amount, unit] = (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value)) || [];
  return Number(amount) * units[unit as keyof typeof units];
}
