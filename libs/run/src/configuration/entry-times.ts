import type { Configuration } from '@sluice/core';
import type { RunParts } from '../parts.js';
import { configurationsOn } from './log.js';
import type { AppliedConfiguration } from './log.js';

/** Entries of a configuration by name, each with what makes it another entry where it changes. */
type EntriesOf = (configuration: Configuration) => ReadonlyMap<string, string>;

/**
 * Since when each entry of the configuration in force is there as it is, milliseconds since the epoch: a schedule makes
 * up for nothing, and a subscription is sent nothing, of before.
 */
export class EntryTimes {
  private version: string | undefined;
  private times: Promise<ReadonlyMap<string, number>> | undefined;

  constructor(
    private readonly runtime: Pick<RunParts, 'bus' | 'signatures'>,
    private readonly entriesOf: EntriesOf,
  ) {}

  /** By name, of this configuration, which is in force. */
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
    const { bus, signatures } = this.runtime;
    return entriesSince(configuration, await configurationsOn(bus, signatures), this.entriesOf);
  }
}

/** `applied`: all that were ever in force, the oldest first. */
export function entriesSince(
  configuration: Configuration,
  applied: readonly Pick<AppliedConfiguration, 'version' | 'appliedAt' | 'read'>[],
  entriesOf: EntriesOf,
): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  const open = new Map(entriesOf(configuration));
  const last = applied.findLastIndex(({ version }) => version === configuration.version);
  for (const { appliedAt, read } of applied.slice(0, last + 1).reverse()) {
    const there = readable(read, entriesOf);
    for (const [name, form] of open) {
      if (there.get(name) === form) since.set(name, appliedAt);
      else open.delete(name);
    }
    if (open.size === 0) break;
  }
  return since;
}

/** None of a configuration that cannot be read any more. */
function readable(read: () => Configuration, entriesOf: EntriesOf): ReadonlyMap<string, string> {
  try {
    return entriesOf(read());
  } catch {
    return new Map();
  }
}
