import { faultCodes, runErrors } from '@sluice/core';
import type { Topic } from '@sluice/contracts';
import type { Consumer, ConsumerObserver, Incoming } from '@sluice/bus';
import type { Runtime } from './runtime.js';

type Measured = Pick<Runtime, 'metrics' | 'clock'>;

/** How often what changes without anybody's doing is looked at, in milliseconds. */
const inFlightEveryMs = 1_000;
const lagEveryMs = 5_000;

/** Counts the transactions and rebalances of a group. Both are there from the start, at 0. */
export function observerOf(group: string, { metrics }: Measured): ConsumerObserver {
  for (const outcome of ['committed', 'failed']) metrics.transactions.inc({ consumer_group: group, outcome }, 0);
  metrics.rebalances.inc({ consumer_group: group }, 0);
  return {
    transaction: (committed, milliseconds) => {
      metrics.transactions.inc({ consumer_group: group, outcome: committed ? 'committed' : 'failed' });
      metrics.transactionDuration.observe({ consumer_group: group }, milliseconds / 1_000);
    },
    rebalanced: () => metrics.rebalances.inc({ consumer_group: group }),
  };
}

/** What may go wrong is there from the start, at 0: otherwise its first time would not show as an increase. */
export function countFaultsFromZero(topics: readonly Topic[], { metrics }: Measured): void {
  for (const outcome of ['answer', ...Object.keys(runErrors)]) metrics.runsEnded.inc({ outcome }, 0);
  for (const topic of topics) for (const code of Object.keys(faultCodes)) metrics.deadLetters.inc({ topic, code }, 0);
}

/** One record is through: how long that took since the log has it. */
export function measureHop(
  group: string,
  { topic, timestamp }: Pick<Incoming, 'topic' | 'timestamp'>,
  { metrics, clock }: Measured,
): void {
  metrics.hopDuration.observe({ consumer_group: group, topic }, Math.max(0, clock.now() - timestamp) / 1_000);
}

/**
 * Keeps the gauges of a consumer's work up to date; returns what ends it. What the log does not tell now has no
 * value, rather than an old one.
 */
export function watchConsumer(group: string, consumer: Consumer, { metrics }: Measured): () => void {
  const partitions = new Map<string, { consumer_group: string; topic: string; partition: number }>();
  let stopped = false;
  let asking = false;
  const forget = (keep: ReadonlySet<string> = new Set()): void => {
    for (const [key, labels] of partitions) {
      if (keep.has(key)) continue;
      metrics.lag.remove(labels);
      partitions.delete(key);
    }
  };
  const look = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    // Readiness says why the log cannot be asked.
    const lag = await consumer.lag().catch(() => []);
    asking = false;
    if (stopped) return;
    forget(new Set(lag.map(({ topic, partition }) => `${topic}/${partition}`)));
    for (const { topic, partition, records } of lag) {
      const labels = { consumer_group: group, topic, partition };
      partitions.set(`${topic}/${partition}`, labels);
      metrics.lag.set(labels, records);
    }
  };
  const count = (): void => metrics.inFlight.set({ consumer_group: group }, consumer.inFlight);
  count();
  void look();
  const timers = [setInterval(count, inFlightEveryMs), setInterval(() => void look(), lagEveryMs)];
  return () => {
    stopped = true;
    timers.forEach(clearInterval);
    forget();
    metrics.inFlight.remove({ consumer_group: group });
  };
}
