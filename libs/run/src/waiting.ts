import type { Toolset } from '@sluice/contracts';
import type { RunParts } from './parts.js';

/** That a run waits for its model, which could not be reached in the turn and is asked again. */
export interface Waiting {
  readonly iteration: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why, as a sentence that may be shown. */
  readonly reason: string;
}

type Keeping = Pick<RunParts, 'documents' | 'clock'>;
type Turn = Pick<Toolset, 'requestId' | 'iteration' | 'run'>;

/**
 * Keeps it beside the log for those who ask later how the run is: records of agent.progress may be lost, and are for
 * those who follow. Best effort: what is left behind by a turn that is over, the reader of the log sees by the
 * iteration.
 */
export async function noteWaiting({ requestId, iteration, run }: Turn, reason: string, parts: Keeping): Promise<void> {
  const tenant = run.principal?.tenantId;
  if (tenant === undefined) return;
  const key = keyOf(requestId, tenant);
  const found = await parts.documents.find(key);
  const before = found === undefined ? null : (JSON.parse(found.text) as Waiting | null);
  const since = before?.iteration === iteration ? before.since : parts.clock.now();
  const waiting: Waiting = { iteration, since, reason };
  await parts.documents.put(key, (found?.version ?? 0) + 1, JSON.stringify(waiting), run.deadline);
}

/** Takes it back once the model gave its turn. */
export async function noLongerWaiting({ requestId, run }: Turn, { documents }: Keeping): Promise<void> {
  const tenant = run.principal?.tenantId;
  if (tenant === undefined) return;
  const key = keyOf(requestId, tenant);
  const found = await documents.find(key);
  if (found !== undefined) await documents.put(key, found.version + 1, 'null', run.deadline);
}

/**
 * What the tenant’s run waits for; null if for nothing, or where that cannot be read: how the run is can be shown
 * without it. The caller holds the iteration against what the log has.
 */
export async function waitingOf(requestId: string, tenant: string, parts: Keeping): Promise<Waiting | null> {
  const found = await parts.documents.find(keyOf(requestId, tenant)).catch(() => undefined);
  if (found === undefined || (found.expiresAt !== null && found.expiresAt <= parts.clock.now())) return null;
  return JSON.parse(found.text) as Waiting | null;
}

function keyOf(requestId: string, tenant: string): string {
  return `waiting/${JSON.stringify([tenant, requestId])}`;
}
