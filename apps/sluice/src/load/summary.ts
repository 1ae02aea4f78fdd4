import type { Paint } from '../show/paint.js';
import { shown, table } from './board.js';
import type { Latencies } from './latencies.js';
import type { Tally } from './tally.js';

/**
 * What is left when a load is over, for people. `sending` is the part of the time in which requests went out, in
 * seconds.
 */
export function summary(tally: Tally, seconds: number, sending: number, paint: Paint): string {
  const { sent, all, inFlight, unexpected, decisions } = tally;
  const rates = `${(sent / sending).toFixed(1)}/s sent, ${(all.count / seconds).toFixed(1)}/s ended`;
  const lines = [
    `${paint.strong(`${sent} requests in ${seconds.toFixed(0)} s`)} (${rates}); from request to answer p50 ${shown(all.quantile(0.5))}, p99 ${shown(all.quantile(0.99))}, longest ${shown(all.count === 0 ? null : all.max)}`,
    ...table(tally, paint),
  ];
  if (decisions.approve + decisions.refuse > 0)
    lines.push(`approvals: ${decisions.approve} approved, ${decisions.refuse} refused`);
  const good = inFlight === 0 && unexpected === 0;
  if (good) lines.push(`${paint.good('✓')} Every request ended, each as its kind should.`);
  if (inFlight > 0) lines.push(`${paint.bad('✗')} ${inFlight} requests have not ended.`);
  for (const [name, count] of tally.surprises)
    lines.push(`${paint.bad('✗')} ended otherwise than expected, ${name}: ${count}`);
  return `${lines.join('\n')}\n`;
}

/** The same for programs; latencies in milliseconds. */
export function summaryJson(tally: Tally, seconds: number): object {
  const { sent, all, inFlight, unexpected, decisions, kinds, calls, outcomes } = tally;
  return {
    seconds: Math.round(seconds * 10) / 10,
    sent,
    ended: all.count,
    unanswered: inFlight,
    unexpected,
    ms: figures(all),
    outcomes: Object.fromEntries([...outcomes].map(([name, one]) => [name, { runs: one.count, ...figures(one) }])),
    kinds: Object.fromEntries(kinds),
    tool_calls: Object.fromEntries(calls),
    approvals: decisions,
  };
}

function figures(latencies: Latencies): object {
  const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));
  const { count, max } = latencies;
  return {
    p50: rounded(latencies.quantile(0.5)),
    p99: rounded(latencies.quantile(0.99)),
    max: count === 0 ? null : rounded(max),
  };
}
