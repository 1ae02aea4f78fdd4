import type { Row } from './row-kinds.js';
import type { Span, TimeScale } from './scale.js';

/**
 * The rows, with one for each time in which nothing went on, before the row that began behind it. `asked` has when
 * approvals were asked for.
 */
export function withIdle(rows: readonly Row[], { idle }: TimeScale, asked: readonly number[]): readonly Row[] {
  if (idle.length === 0) return rows;
  const all: Row[] = [];
  let next = 0;
  for (const row of rows) {
    const began = 'span' in row ? row.span?.from : undefined;
    while (began !== undefined && row.depth === 0 && next < idle.length && (idle[next]?.to ?? 0) <= began) {
      const { from, to } = idle[next] as Span;
      const isForApproval = asked.some((at) => at >= from - 1_000 && at < to);
      all.push({ kind: 'idle', key: `idle/${from}`, depth: 0, ms: to - from, isForApproval });
      next++;
    }
    all.push(row);
  }
  return all;
}
