import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@sluice/contracts';
import type { AccessDenial } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';

/** How long a refused caller waits for its denial to be on the log, milliseconds. It is refused in any case. */
const longestWaitMs = 2_000;
/**
 * How long no denial is written after one could not be: what is published together fails together, requests of others
 * included.
 */
const restMs = 10_000;

/** Of names that a caller chose, in one record. */
const mostNames = 100;
const longestName = 200;

/** Writes to the log what was refused before anything else of it was there, so that the audit has it. */
export class Denials {
  private restsUntil = 0;

  constructor(private readonly parts: Pick<Runtime, 'bus' | 'metrics' | 'log' | 'clock'>) {}

  /** Resolves when the denial is on the log, could not be written, or takes too long. Never rejects. */
  async write(denial: AccessDenial): Promise<void> {
    const { bus, clock } = this.parts;
    if (clock.now() < this.restsUntil) return this.lost(denial, 'the log could not be written a moment ago');
    const record = short(denial);
    // What comes without a session stands in the order of its caller.
    const key = record.sessionId || record.actorId;
    const written = bus.publish([{ topic: topics.denials, key, record }]).catch((error: unknown) => {
      this.restsUntil = clock.now() + restMs;
      this.lost(denial, error instanceof Error ? error.message : String(error));
    });
    const waited = new AbortController();
    await Promise.race([written, delay(longestWaitMs, undefined, { signal: waited.signal, ref: false })]);
    waited.abort();
  }

  private lost({ route, actorId, tenantId, requestId, code }: AccessDenial, reason: string): void {
    this.parts.metrics.lostDenials.inc();
    const about = { route, actor: actorId, tenant: tenantId, request_id: requestId, code, reason };
    this.parts.log.error(about, 'a denial could not be written to the log, so the audit lacks it');
  }
}

function short(denial: AccessDenial): AccessDenial {
  return {
    ...denial,
    permittedGroups: names(denial.permittedGroups),
    requestedGroups: names(denial.requestedGroups),
    refusedGroups: names(denial.refusedGroups),
    state: name(denial.state),
  };
}

function names(given: readonly string[]): readonly string[] {
  return given.slice(0, mostNames).map(name);
}

function name(given: string): string {
  return given.length <= longestName ? given : `${given.slice(0, longestName)}…`.toWellFormed();
}
