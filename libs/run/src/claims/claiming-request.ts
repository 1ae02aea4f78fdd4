import { topics } from '@sluice/contracts';
import { skipUndecodable, recordAt } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import type { NamedRun } from './run-names.js';
import { requestOwner } from './requests-and-turns.js';
import type { RunParts } from '../parts.js';

/**
 * Where the request stands on the log that took an id, by how the ledger names its owner; null for an agent’s run,
 * which no request began.
 */
export function requestPosition(owner: string): { readonly partition: number; readonly offset: number } | null {
  const place = /^agent\.requests\/(\d+)\/(\d+)$/.exec(owner);
  return place === null ? null : { partition: Number(place[1]), offset: Number(place[2]) };
}

/** The request that has the id in its tenant; null if none has, or it is no longer on the log. */
export async function claimingRequest(
  run: NamedRun,
  runtime: Pick<RunParts, 'bus' | 'ledger' | 'clock'>,
): Promise<Incoming<'agent.requests'> | null> {
  const owner = await requestOwner(run, runtime);
  const place = owner === null ? null : requestPosition(owner);
  return place === null ? null : ((await recordAt(runtime.bus, topics.requests, place, skipUndecodable)) ?? null);
}
