import { callsAround } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Run } from '@sluice/contracts';
import { keepOnce } from './once.js';
import { claimedName } from './run-names.js';
import type { RunParts } from '../parts.js';

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;
type Caller = Pick<Principal, 'tenantId' | 'actorId' | 'subjectId'>;

/** That a run is cancelled, as its end says it. */
export interface Cancelled {
  readonly message: string;
}

/** Longest reason that a caller may give, UTF-16 units. */
export const longestCancelReason = 500;

/** Why a cancellation does not count. */
export const notCancelledReasons = {
  not_authenticated: 'The credential that came with it is missing or does not hold.',
  not_its_caller: 'Another caller started the run.',
  no_such_run: 'No filter has taken a request of this id.',
  ended: 'The run had ended before.',
} as const;
export type NotCancelled = keyof typeof notCancelledReasons;

const owner = 'caller';

/**
 * Marks the caller’s run as cancelled. A service that has a run looks for the mark of the run’s own caller: another’s
 * under the same id says nothing, and one from before the run begins holds too.
 */
export async function cancelRun(requestId: string, caller: Caller, reason: string, runtime: Claiming): Promise<void> {
  await keepOnce(await cancelKey(requestId, caller, runtime), owner, reason, runtime);
}

/**
 * Marks a run of the tenant as cancelled by one whom its agent's entry names (`may_cancel`), which the filter has seen
 * to.
 */
export async function cancelForCaller(
  { requestId, tenant }: { readonly requestId: string; readonly tenant: string },
  { actorId }: Pick<Caller, 'actorId'>,
  reason: string,
  runtime: Claiming,
): Promise<void> {
  const by = `${actorId}${reason === '' ? '.' : `: ${reason}`}`;
  await keepOnce(await otherKey(requestId, tenant, runtime), owner, by, runtime);
}

/** Whether the run was cancelled by its caller, or for it, or is within a call of one that was; null if not. */
export async function cancelOf(
  { requestId, run }: { readonly requestId: string; readonly run: Pick<Run, 'principal' | 'parent'> },
  runtime: Claiming,
): Promise<Cancelled | null> {
  const { principal } = run;
  if (principal === null) return null;
  const { ledger, clock } = runtime;
  for (const id of [requestId, ...callsAround(run).map((call) => call.requestId)]) {
    const keys = [cancelKey(id, principal, runtime), otherKey(id, principal.tenantId, runtime)] as const;
    const marks = await Promise.all(keys.map(async (key) => ledger.find(await key)));
    // A mark without its reason is being made: it counts once it is whole.
    const [own, other] = marks.map((mark) => (mark === undefined || mark.expiresAt <= clock.now() ? null : mark.value));
    if (own != null) return { message: `The run was cancelled by its caller${own === '' ? '.' : `: ${own}`}` };
    if (other != null) return { message: `The run was cancelled by ${other}` };
  }
  return null;
}

async function otherKey(requestId: string, tenant: string, runtime: Claiming): Promise<string> {
  return `cancelled/${await claimedName({ requestId, tenant }, runtime)}/for-its-caller`;
}

async function cancelKey(requestId: string, caller: Caller, runtime: Claiming): Promise<string> {
  const { tenantId: tenant, actorId, subjectId } = caller;
  const name = await claimedName({ requestId, tenant }, runtime);
  return `cancelled/${name}/${sha256(JSON.stringify([actorId, subjectId])).slice(0, 32)}`;
}
