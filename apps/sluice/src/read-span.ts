const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };

/** A span of time such as `30m`, `12h` or `90d`, in milliseconds; at most ten years. */
export function readSpan(option: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([mhd])$/.exec(text) ?? [];
  const ms = count === undefined ? NaN : Number(count) * (units[unit] as number);
  if (ms > 0 && ms <= 3_650 * (units['d'] as number)) return ms;
  throw new Error(`${option} is "${text}"; write a span from 1m to 3650d, as 30m, 12h or 90d.`);
}
