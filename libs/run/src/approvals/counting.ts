import { positionOf } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { ApprovalClaims } from '../claims/approvals.js';

/** Records that count for nothing and are remembered, so that the ledger is not asked about them each time. */
const mostRemembered = 10_000;

/**
 * Which requests and outcomes on agent.approvals count: those that executors vouch for in the ledger. They do so
 * before the record is on the log, so what a record was found to be once holds for good, and is not asked about
 * again.
 */
export class CountingApprovals {
  /** By partition: everything before this offset was looked at. */
  private readonly lookedTo = new Map<number, number>();
  private readonly forNothing = new Set<string>();

  constructor(private readonly claims: ApprovalClaims) {}

  async counts(message: Incoming<'agent.approvals'>): Promise<boolean> {
    const { partition, offset } = message;
    if (offset < (this.lookedTo.get(partition) ?? 0)) return !this.forNothing.has(positionOf(message));
    const counts = await this.isVouched(message.record);
    // Of more than can be remembered nothing is: what stands behind it is looked up each time.
    if (this.forNothing.size >= mostRemembered) return counts;
    if (!counts) this.forNothing.add(positionOf(message));
    this.lookedTo.set(partition, offset + 1);
    return counts;
  }

  private async isVouched({ requested, outcome, escalated }: Incoming<'agent.approvals'>['record']): Promise<boolean> {
    if (requested !== null && !(await this.claims.isVouched(requested))) return false;
    if (escalated !== null && !(await this.claims.isEscalated(escalated))) return false;
    return outcome === null || (await this.claims.isDecided(outcome));
  }
}
