import { durationMs } from '@sluice/core';
import type { Section } from './section.js';

/** A duration such as `2s`, `500ms` or `1.5m`, in milliseconds. */
export function readDuration(
  section: Section,
  key: string,
  range: { readonly byDefault: number; readonly most: number; readonly least?: number },
): number {
  const value = section.value(key);
  if (value === null) return range.byDefault;
  const { least = 1 } = range;
  const ms = Math.round(durationMs(value));
  if (ms >= least && ms <= range.most) return ms;
  section.refuse(
    key,
    `a duration from \`${least < 1_000 ? `${String(least)}ms` : `${String(least / 1_000)}s`}\` to \`${String(range.most / 1_000)}s\`, such as \`2s\` or \`500ms\``,
  );
  return range.byDefault;
}
