import type { Section } from './section.js';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A duration such as `2s`, `500ms` or `1.5m`, in milliseconds. */
export function readDuration(
  section: Section,
  key: string,
  range: { readonly byDefault: number; readonly most: number },
): number {
  const value = section.value(key);
  if (value === null) return range.byDefault;
  const [, amount, unit] = (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value)) || [];
  const ms = Math.round(Number(amount) * units[unit as keyof typeof units]);
  if (ms >= 1 && ms <= range.most) return ms;
  section.refuse(key, `a duration from \`1ms\` to \`${String(range.most / 1_000)}s\`, such as \`2s\` or \`500ms\``);
  return range.byDefault;
}
