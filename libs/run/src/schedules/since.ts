import type { Configuration, ScheduleSettings } from '@sluice/core';
import { configurationsOn } from '../configuration/log.js';
import type { AppliedConfiguration } from '../configuration/log.js';
import type { RunParts } from '../parts.js';

/**
 * Since when each schedule of the configuration in force is due as it is, by its name: a new one makes up for nothing
 * that was before it.
 */
export class ScheduleTimes {
  private version: string | undefined;
  private times: Promise<ReadonlyMap<string, number>> | undefined;

  constructor(private readonly runtime: Pick<RunParts, 'bus' | 'signatures'>) {}

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
    return scheduledSince(configuration, await configurationsOn(this.runtime.bus, this.runtime.signatures));
  }
}

/** `applied`: all that were ever in force, the oldest first. */
export function scheduledSince(
  { version, schedules = [] }: Pick<Configuration, 'version' | 'schedules'>,
  applied: readonly Pick<AppliedConfiguration, 'version' | 'appliedAt' | 'read'>[],
): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  const open = new Map(schedules.map((schedule) => [schedule.name, formOf(schedule)]));
  const last = applied.findLastIndex((one) => one.version === version);
  for (const { appliedAt, read } of applied.slice(0, last + 1).reverse()) {
    const there = new Map(schedulesIn(read).map((schedule) => [schedule.name, formOf(schedule)]));
    for (const [name, form] of open) {
      if (there.get(name) === form) since.set(name, appliedAt);
      else open.delete(name);
    }
    if (open.size === 0) break;
  }
  return since;
}

/** What of a schedule says when it is due. */
function formOf({ cron, timeZone }: ScheduleSettings): string {
  return JSON.stringify([cron, timeZone]);
}

/** None of a configuration that cannot be read any more. */
function schedulesIn(read: () => Configuration): readonly ScheduleSettings[] {
  try {
    return read().schedules ?? [];
  } catch {
    return [];
  }
}
