import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Fault } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { Busy, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Refusal } from '../refusal.js';

/** Readings of the whole log at a time, and how long one may take, milliseconds. */
const mostReadings = 2;
const longestMs = 30 * 60_000;
/** Records between which other requests have their turn. */
const recordsAtOnce = 200;

/** How far a reading is. */
export interface ReadingProgress {
  /** Records that were read, those that are read twice counted twice. */
  readonly records: number;
  /** Of them, entries of the audit. */
  readonly entries: number;
  /** When the log took the last one, milliseconds since the epoch. */
  readonly at: number | null;
}

/** A reading of the log from its beginning that others of this process go on beside. */
interface Reading {
  /** Throws where the reading is to end: what read only a part must not be taken for the whole. */
  readonly log: LogReader;
  readonly signal: AbortSignal;
  progress(): ReadingProgress;
}

/** Work that reads the whole log, as verifying the audit does: few at a time, each for a while. */
@Injectable()
export class WholeLog implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  private readings = 0;

  constructor(@Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'bus' | 'log'>) {}

  onModuleDestroy(): void {
    this.stopping.abort(new Busy('This gateway is being stopped. Ask another one, or try again in a moment.'));
  }

  /** Throws Busy beyond the limit, and Refusal(503) where the log refuses this gateway a topic. */
  async during<T>(leaving: AbortSignal, work: (reading: Reading) => Promise<T>): Promise<T> {
    if (this.readings >= mostReadings)
      throw new Busy(`This gateway reads the whole log ${mostReadings} times already. Try again in a moment.`);
    this.readings++;
    try {
      const signal = AbortSignal.any([leaving, this.stopping.signal, AbortSignal.timeout(longestMs)]);
      return await work(readingOf(this.runtime.bus, signal));
    } catch (error) {
      throw this.refusalFor(error);
    } finally {
      this.readings--;
    }
  }

  private refusalFor(error: unknown): unknown {
    if (error instanceof DOMException && error.name === 'TimeoutError') return new Refusal(503, 'busy', tooLong);
    if (!(error instanceof Fault) || error.retryable || !/Grant the permission/.test(error.message)) return error;
    this.runtime.log.error({ error: error.message }, 'a reading of the whole log was refused by the log');
    return new Refusal(503, 'storage', noRights, { 'retry-after': '60' });
  }
}

const tooLong =
  'The log is too long to be read in half an hour here. Use the command line: sluice audit verify, sluice export or sluice attest.';
const noRights =
  'This gateway may not read all topics that the audit covers. Give its user the rights of “gateway” (sluice topics --acls), or use the command line with those of “auditor”.';

function readingOf(bus: LogReader, signal: AbortSignal): Reading {
  const seen = { records: 0, entries: 0, at: null as number | null };
  async function* read<T extends Topic>(wanted: readonly T[], options: ReadOptions): AsyncGenerator<Incoming<T>> {
    const signals = options.signal === undefined ? [signal] : [signal, options.signal];
    for await (const message of bus.read(wanted, { ...options, signal: AbortSignal.any(signals) })) {
      yield message;
      seen.records++;
      if (message.topic === topics.audit) seen.entries++;
      seen.at = message.timestamp;
      if (seen.records % recordsAtOnce !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
  }
  return { log: { read }, signal, progress: () => seen };
}
