import type { Verifier } from '@sluice/core';
import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import type { RunLog } from '../reporting.js';
import { endSignature } from './ends.js';

/** Places of forged ends that have their log line, so that a second reading writes none. */
const mostReported = 1_000;

/**
 * A log without the ends of runs that no service signed, for readers that go by ends. A run with a forged end goes on
 * for them until its own end comes.
 */
export class GenuineEnds implements LogReader {
  private readonly reported = new Set<string>();

  constructor(
    private readonly log: LogReader,
    private readonly signatures: Verifier,
    private readonly runLog?: Pick<RunLog, 'error'>,
  ) {}

  async *read<T extends Topic>(
    topics: readonly T[],
    options: ReadOptions,
  ): AsyncGenerator<Incoming<T>, void, undefined> {
    for await (const message of this.log.read(topics, options))
      if (!(await this.isForged(message as Incoming))) yield message;
  }

  private async isForged(message: Incoming): Promise<boolean> {
    if (message.topic !== 'agent.responses') return false;
    if ((await endSignature(message, this.signatures)) !== null) return false;
    this.reportForged(message);
    return true;
  }

  private reportForged({ topic, partition, offset, record }: Incoming<'agent.responses'>): void {
    const place = `${partition}/${offset}`;
    if (this.reported.has(place)) return;
    if (this.reported.size >= mostReported) this.reported.clear();
    this.reported.add(place);
    this.runLog?.error(
      { topic, partition, offset, request_id: record.requestId },
      'ignored an end of a run that no service signed; find out who wrote it',
    );
  }
}
