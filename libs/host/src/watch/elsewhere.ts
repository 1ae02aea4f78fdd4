import type { RequestTopic } from '@sluice/contracts';
import { setTimeout as delay } from 'node:timers/promises';
import { requestIds } from '@sluice/contracts';
import { skipUndecodable, recordAt } from '@sluice/bus';
import { requestOwner, requestPosition } from '@sluice/run';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from '../runtime.js';
import type { Followed } from './followed.js';

type Reading = Pick<Runtime, 'bus' | 'ledger' | 'clock'>;

/**
 * What is said where a request under the same id, in another session, was first: of the caller’s own nothing will
 * ever come.
 */
export const claimedElsewhere =
  'The request_id was taken by a request in another session. Choose another one, or leave it out.';

/** Longer than filters that are not behind need to take a request, in milliseconds. */
const lookEveryMs = 2_000;

interface TenantsRun {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tenant: string;
  /** Whether the caller sent the request, where that matters: another sender’s is elsewhere too. */
  readonly isSender?: (request: Incoming<RequestTopic>) => Promise<boolean>;
}

/**
 * Whether the run’s id belongs to a request of another session, as far as its record can be read; null while the id
 * is unused.
 */
export async function isElsewhere(
  { requestId, sessionId, tenant, isSender }: TenantsRun,
  runtime: Reading,
): Promise<boolean | null> {
  const owner = await requestOwner({ requestId, tenant }, runtime);
  if (owner === null) return null;
  const place = requestPosition(owner);
  // An agent’s run has a session of its own, by the same name.
  if (place === null) return requestId !== sessionId;
  const message = await recordAt<RequestTopic>(runtime.bus, place.topic, place, skipUndecodable);
  if (message === undefined) return false;
  if (requestIds(message, message.record).sessionId !== sessionId) return true;
  return isSender !== undefined && !(await isSender(message));
}

/**
 * Ends the following of a run once its id turns out to belong to another session; looks until a record of the run has
 * come.
 */
export async function endIfElsewhere(run: TenantsRun, followed: Followed, runtime: Reading): Promise<void> {
  for (;;) {
    await delay(lookEveryMs, undefined, { signal: followed.over }).catch(() => undefined);
    if (followed.over.aborted || followed.hasBegun) return;
    // A ledger or a log that does not answer now is asked again.
    const elsewhere = await isElsewhere(run, runtime).catch(() => null);
    if (elsewhere) followed.end('elsewhere');
    if (elsewhere !== null) return;
  }
}
