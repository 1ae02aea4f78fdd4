import { isRequestTopic, isTopic } from '@sluice/contracts';
import type { RequestTopic } from '@sluice/contracts';
import { skipUndecodable, recordAt } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import type { NamedRun } from './run-names.js';
import { requestOwner } from './requests-and-turns.js';
import type { RunParts } from '../parts.js';

/**
 * Where the request stands on the log that took an id, by how the ledger names its owner; null for an agent’s run,
 * which no request began.
 */
export function requestPosition(owner: string): RequestPlace | null {
  const [topic = '', partition, offset] = owner.split('/');
  if (!isTopic(topic) || !isRequestTopic(topic)) return null;
  return { topic, partition: Number(partition), offset: Number(offset) };
}

interface RequestPlace {
  readonly topic: RequestTopic;
  readonly partition: number;
  readonly offset: number;
}

/** The request that has the id in its tenant; null if none has, or it is no longer on the log. */
export async function claimingRequest(
  run: NamedRun,
  runtime: Pick<RunParts, 'bus' | 'ledger' | 'clock'>,
): Promise<Incoming<RequestTopic> | null> {
  const owner = await requestOwner(run, runtime);
  const place = owner === null ? null : requestPosition(owner);
  return place === null
    ? null
    : ((await recordAt<RequestTopic>(runtime.bus, place.topic, place, skipUndecodable)) ?? null);
}
