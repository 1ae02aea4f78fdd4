import { Fault } from '@sluice/core';
import type { Verifier } from '@sluice/core';
import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import type { RunLog } from '../reporting.js';
import { endSignature } from './ends.js';
import { verifyRecord } from './grants.js';

/** Places of forged ends that have their log line, so that a second reading writes none. */
const mostReported = 1_000;

/** Whether the service that writes such records signed it as a whole. */
export async function isGenuineStep(message: Incoming<'agent.steps'>, signatures: Verifier): Promise<boolean> {
  try {
    await verifyRecord(message, { signatures });
    return true;
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return false;
    throw error;
  }
}

/**
 * A log without the ends of runs that no service signed, for readers that go by ends. A run with a forged end goes on
 * for them until its own end comes. The step of a call that its request makes itself is as good as its end, so a forged
 * one is left out as well.
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
    if (message.topic === 'agent.responses') {
      if ((await endSignature(message, this.signatures)) !== null) return false;
      this.reportForged(message, 'ignored an end of a run that no service signed; find out who wrote it');
      return true;
    }
    if (message.topic !== 'agent.steps' || !isOfCall(message)) return false;
    if (await isGenuineStep(message, this.signatures)) return false;
    this.reportForged(message, 'ignored the step of a call that no executor signed; find out who wrote it');
    return true;
  }

  private reportForged(
    { topic, partition, offset, record }: Incoming<'agent.responses' | 'agent.steps'>,
    message: string,
  ): void {
    const place = `${topic}/${partition}/${offset}`;
    if (this.reported.has(place)) return;
    if (this.reported.size >= mostReported) this.reported.clear();
    this.reported.add(place);
    this.runLog?.error({ topic, partition, offset, request_id: record.requestId }, message);
  }
}

/** A turn that goes back to the filter has no steps, and another writer. */
function isOfCall({ record: { steps, next, call } }: Incoming<'agent.steps'>): boolean {
  return steps.length > 0 && (call !== null || next.call !== null);
}
