import { GenuineEnds, mayBeOfDead, requestIdOf, tenantOf } from '@sluice/run';
import type { RunsWithin } from '@sluice/run';
import { runTopics, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from '../runtime.js';
import { Busy } from './busy.js';
import type { RunAccess } from './run-access.js';

/** Readings at a time: each goes through a piece of the log. */
const mostReadings = 16;

/** What the log has of runs by now. */
export class Past {
  private readings = 0;

  private readonly log: GenuineEnds;

  constructor({ bus, signatures, log }: Pick<Runtime, 'bus' | 'signatures' | 'log'>) {
    this.log = new GenuineEnds(bus, signatures, log);
  }

  /**
   * The records of a run from `since` on, in milliseconds since the epoch, as far as they concern the caller: the
   * request first, the run’s end last. An end that a redrive went on behind (docs/dead-letters.md) is none. Throws
   * Busy where too many read already. The reader of the first record must go on to the end or return. With `within`
   * the records of the agents’ runs come too, as far as they are of the caller’s tenant.
   */
  async *of(
    run: { readonly requestId: string; readonly sessionId: string; readonly since: number },
    whose: RunAccess,
    signal: AbortSignal,
    within?: RunsWithin,
  ): AsyncGenerator<Incoming, void, undefined> {
    if (this.readings >= mostReadings) throw new Busy('This process looks for other runs. Try again in a moment.');
    this.readings++;
    try {
      const keys = new Set([run.sessionId]);
      within?.onRun((runId) => keys.add(runId));
      const ofKey = (key: string): boolean => keys.has(key);
      const options = { from: { time: run.since }, signal, ofKey, onUndecodable: () => undefined };
      let end: Incoming<'agent.responses'> | null = null;
      for await (const message of this.log.read(runTopics, options)) {
        const requestId = requestIdOf(message);
        const isAgents = (within?.of(requestId, message)?.length ?? 0) > 0;
        if (isAgents && [null, whose.tenantId].includes(tenantOf(message))) yield message;
        if (isAgents || requestId !== run.requestId || !(await whose.concerns(message))) continue;
        if (message.topic === topics.responses) {
          end = message;
          if (!mayBeOfDead(message.record)) break;
          continue;
        }
        if (end !== null && isAnotherAttempt(message, end)) end = null;
        yield message;
      }
      if (end !== null) yield end;
    } finally {
      this.readings--;
    }
  }
}

function isAnotherAttempt(message: Incoming, { record: { run } }: Incoming<'agent.responses'>): boolean {
  const redrive = 'run' in message.record ? (message.record.run?.redrive ?? null) : null;
  return redrive !== null && redrive !== run?.redrive;
}
