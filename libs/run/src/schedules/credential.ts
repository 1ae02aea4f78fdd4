import { localPrincipal } from '@sluice/core';
import type { Configuration, OwnRequest, Principal, Signatures } from '@sluice/core';
import { recordContent, recordNames, sha256 } from '@sluice/contracts';
import type { RecordOf, RequestTopic } from '@sluice/contracts';

/** The topics on which a schedule writes: what it asks, and that a run of its own is cancelled. */
export type ScheduledTopic = RequestTopic | 'agent.cancellations';

interface Written<T extends ScheduledTopic> {
  readonly topic: T;
  readonly record: RecordOf<T>;
}

const scheme = 'Sluice-Schedule ';
const use = 'schedule';
/** How long the filter’s signature of a record counts, milliseconds; the log takes it at once. */
const validMs = 15 * 60_000;

export const isScheduleCredential = (credential: string | undefined): credential is string =>
  credential?.startsWith(scheme) === true;

/** As whom a request asks that no caller makes. Its entry names all that it may ask for. */
export function ownPrincipal(
  { principal, tenant, groups, connections = [] }: OwnRequest,
  { identity }: Pick<Configuration, 'identity'>,
): Principal {
  if (identity.provider === 'none') return localPrincipal;
  return {
    ...{ actorId: principal, tenantId: tenant, subjectId: null },
    ...{ groups: groups ?? ['default'], connections },
  };
}

/** The filter’s signature over exactly this record, as one of the schedule. */
export async function scheduleCredential<T extends ScheduledTopic>(
  schedule: string,
  { topic, record }: Written<T>,
  { signatures, now }: { readonly signatures: Pick<Signatures, 'sign'>; readonly now: number },
): Promise<string> {
  const claims = { use, schedule, topic, digest: digestOf({ topic, record }), at: now };
  return `${scheme}${await signatures.sign('filter', claims)}`;
}

/**
 * The name of the schedule whose record it is; null if the filter did not sign exactly this one, or not shortly before
 * the log took it.
 */
export async function scheduleOf<T extends ScheduledTopic>(
  credential: string,
  written: Written<T>,
  { signatures, at }: { readonly signatures: Pick<Signatures, 'verify'>; readonly at: number },
): Promise<string | null> {
  const claims = await signatures.verify('filter', credential.slice(scheme.length));
  if (claims === null || claims['use'] !== use) return null;
  const isThis = claims['topic'] === written.topic && claims['digest'] === digestOf(written);
  const isFresh = Math.abs(at - Number(claims['at'])) <= validMs;
  return isThis && isFresh && typeof claims['schedule'] === 'string' ? claims['schedule'] : null;
}

function digestOf<T extends ScheduledTopic>({ topic, record }: Written<T>): string {
  return sha256(recordContent(recordNames[topic], record));
}
