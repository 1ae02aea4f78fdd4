import { durationIn } from '@sluice/projection';
import type { CallTimes } from '@sluice/projection';

/** Calls of one tool, and how long they took. */
interface ToolCalls {
  readonly tool: string;
  readonly calls: number;
  readonly failures: number;
  readonly p50: number;
  readonly p95: number;
}

/** By tool, the most called first. */
export function callStatistics(times: readonly CallTimes[]): readonly ToolCalls[] {
  const found = [...Map.groupBy(times, ({ tool }) => tool)].map(([tool, buckets]) => {
    const ordered = buckets.toSorted((one, other) => one.bucket - other.bucket);
    const calls = sum(ordered.map((one) => one.calls));
    const failures = sum(ordered.map((one) => one.failures));
    return { tool, calls, failures, p50: quantile(ordered, calls, 0.5), p95: quantile(ordered, calls, 0.95) };
  });
  return found.toSorted((one, other) => other.calls - one.calls || (one.tool < other.tool ? -1 : 1));
}

/** The duration within which so large a part of the calls ended. */
function quantile(buckets: readonly CallTimes[], calls: number, part: number): number {
  let below = 0;
  for (const { bucket, calls: more } of buckets) {
    below += more;
    if (below >= calls * part) return durationIn(bucket);
  }
  return 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
