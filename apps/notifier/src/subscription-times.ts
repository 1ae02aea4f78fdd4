import { receiversOf } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { configurationsOn } from '@sluice/run';
import type { AppliedConfiguration } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/**
 * Since when each subscription of the configuration in force is there, by its name: what happened before is not sent,
 * or a new one would be sent all that the log still has.
 */
export class SubscriptionTimes {
  private version: string | undefined;
  private times: Promise<ReadonlyMap<string, number>> | undefined;

  constructor(private readonly runtime: Pick<Runtime, 'bus' | 'signatures'>) {}

  /** Of the subscriptions of this configuration, which is in force. */
  of(configuration: Configuration): Promise<ReadonlyMap<string, number>> {
    if (this.version !== configuration.version || this.times === undefined) {
      this.version = configuration.version;
      this.times = this.read(configuration);
      // The next one looks again.
      this.times.catch(() => (this.times = undefined));
    }
    return this.times;
  }

  private async read(configuration: Configuration): Promise<ReadonlyMap<string, number>> {
    return subscribedSince(configuration, await configurationsOn(this.runtime.bus, this.runtime.signatures));
  }
}

/** `applied`: all that were ever in force, the oldest first. */
export function subscribedSince(
  { version, notify }: Configuration,
  applied: readonly Pick<AppliedConfiguration, 'version' | 'appliedAt' | 'read'>[],
): ReadonlyMap<string, number> {
  const last = applied.findLastIndex((one) => one.version === version);
  const since = new Map<string, number>();
  const open = new Set(receiversOf(notify).map(({ id }) => id));
  for (const { appliedAt, read } of applied.slice(0, last + 1).reverse()) {
    const there = new Set(subscriptionsIn(read));
    for (const id of open) {
      if (there.has(id)) since.set(id, appliedAt);
      else open.delete(id);
    }
    if (open.size === 0) break;
  }
  return since;
}

/** None of a configuration that cannot be read any more. */
function subscriptionsIn(read: () => Configuration): readonly string[] {
  try {
    return receiversOf(read().notify).map(({ id }) => id);
  } catch {
    return [];
  }
}
