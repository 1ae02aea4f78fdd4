import { consumersUnder } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';

/** How often the groups' lag is read, in milliseconds: as often as Prometheus usually scrapes. */
const lookEveryMs = 15_000;

/**
 * Exports the lag of every service's consumer group. A service reports only the partitions it owns, so the lag of one
 * that has no instance would vanish with it; the audit goes on when the others do not.
 */
export function watchGroupLags({
  bus,
  metrics,
  log,
  configurations,
}: Pick<Runtime, 'bus' | 'metrics' | 'log' | 'configurations'>): () => void {
  let isLooking = false;
  let isUnread = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const [, { group, consumes }] of consumersUnder(configurations.inForceOrNull()?.configuration)) {
        const lags = await bus.groupLag(group, consumes);
        for (const topic of consumes) {
          const records = lags.filter((lag) => lag.topic === topic).reduce((sum, lag) => sum + lag.records, 0);
          metrics.groupLag.set({ consumer_group: group, topic }, records);
        }
      }
      isUnread = false;
    } catch (error) {
      // Without a value, rather than with an old one.
      metrics.groupLag.reset();
      if (!isUnread) log.warn({ reason: (error as Error).message }, 'the lag of the consumer groups cannot be read');
      isUnread = true;
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), lookEveryMs);
  return () => clearInterval(timer);
}
