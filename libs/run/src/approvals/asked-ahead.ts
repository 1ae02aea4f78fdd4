import { topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import type { ApprovalClaims } from '../claims/approvals.js';
import type { ApprovalPosition } from './open.js';
import { needlessMeanwhile } from './request.js';

/** What an executor asked, and where that stands. */
interface AskedAt {
  readonly requested: ApprovalRequested;
  readonly position: ApprovalPosition;
}

/** What executors asked of the run since then, milliseconds since the epoch, in the order of the log. */
async function* askedOf(
  { requestId, sessionId, tenantId }: Pick<ApprovalRequested, 'requestId' | 'sessionId' | 'tenantId'>,
  since: number,
  bus: Bus,
  claims: Pick<ApprovalClaims, 'isVouched'>,
): AsyncGenerator<AskedAt> {
  const ofKey = (key: string): boolean => key === sessionId;
  for await (const message of bus.read([topics.approvals], { from: { time: since }, ofKey, onUndecodable: () => {} })) {
    const { requested } = message.record;
    if (requested?.requestId !== requestId || requested.tenantId !== tenantId) continue;
    if (await claims.isVouched(requested)) yield { requested, position: message };
  }
}

/**
 * Where the turn waits at the call that was asked about ahead of it; null while the turn is not there, and where it
 * went on without waiting.
 */
export async function waitsAt(
  asked: ApprovalRequested,
  since: number,
  bus: Bus,
  claims: Pick<ApprovalClaims, 'isVouched'>,
): Promise<ApprovalRequested | null> {
  let found: ApprovalRequested | null = null;
  for await (const { requested } of askedOf(asked, since, bus, claims))
    if (requested.approvalId === asked.approvalId && requested.behind === null) found = requested;
  return found;
}

/**
 * Those of the approvals that were asked for with this one which have no decision, but for that of an earlier attempt
 * that they are needed no more.
 */
export async function undecidedOf(
  asked: ApprovalRequested,
  since: number,
  bus: Bus,
  claims: Pick<ApprovalClaims, 'isVouched' | 'decisionOn'>,
): Promise<readonly AskedAt[]> {
  const open = new Set<string>();
  for (const id of asked.others) {
    const taken = await claims.decisionOn(id);
    if (taken === undefined || taken?.reason === needlessMeanwhile) open.add(id);
  }
  const found: AskedAt[] = [];
  if (open.size === 0) return found;
  for await (const one of askedOf(asked, since, bus, claims))
    if (open.delete(one.requested.approvalId)) found.push(one);
  return found;
}
