import { durationMs } from '@sluice/core';
import type { Section } from './section.js';

/** A duration such as `2s`, `500ms` or `1.5m`, in milliseconds. */
export function readDuration(
  section: Section,
  key: string,
  range: { readonly byDefault: number; readonly most: number },
): number {
  const value = section.value(key);
  if (value === null) return range.byDefault;
  const ms = Math.round(durationMs(value));
  if (ms >= 1 && ms <= range.most) return ms;
  section.refuse(key, `a duration from \`1ms\` to \`${String(range.most / 1_000)}s\`, such as \`2s\` or \`500ms\``);
  return range.byDefault;
}
