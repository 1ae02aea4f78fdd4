import { claimMemoryMs } from '@sluice/core';
import type { ApprovalDecision } from '@sluice/core';
import { positionOf } from '@sluice/contracts';
import type { ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import { claimOnce } from './once.js';
import type { OnceClaim } from './once.js';
import type { AcceptedDecision } from '../approvals/request.js';
import { digestOfRequest } from './vouched.js';
import type { RunParts } from '../parts.js';

/** The decision that was taken on an approval, as the ledger keeps it. */
export interface ClaimedDecision {
  readonly decision: ApprovalDecision;
  readonly decidedBy: string;
  readonly reason: string;
  /** The arguments that the approver gave the call, as written; absent where it runs with its own. */
  readonly edited?: string;
  /** Where the ApprovalRequested stands that it was taken on. */
  readonly partition: number;
  readonly offset: number;
}

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;

/**
 * What must be decided once for each approval, as claims in the ledger; a forger of records on the log cannot write
 * these.
 */
export class ApprovalClaims {
  constructor(private readonly runtime: Claiming) {}

  /** Says that an executor asked exactly this: a request for an approval that is only on the log is forged. */
  async vouch(requested: ApprovalRequested): Promise<void> {
    await this.claim(vouchKey(requested), positionOf(requested));
  }

  async isVouched(requested: ApprovalRequested): Promise<boolean> {
    return (await this.runtime.ledger.find(vouchKey(requested))) !== undefined;
  }

  /**
   * Takes the decision for the owner if it is the first; returns the decision in force, null while the first owner
   * has not written its own.
   */
  async decide(
    approvalId: string,
    owner: string,
    decision: ClaimedDecision,
  ): Promise<{ readonly first: boolean; readonly taken: ClaimedDecision | null }> {
    const key = decisionKey(approvalId);
    const claim = await this.claim(key, owner);
    if (claim.owner !== owner) return { first: false, taken: read(claim.value) };
    const settled = await this.runtime.ledger.settle(key, owner, JSON.stringify(decision));
    return { first: true, taken: read(settled.value) };
  }

  /** The decision that was taken; null while it is being written, undefined if there is none. */
  async decisionOn(approvalId: string): Promise<ClaimedDecision | null | undefined> {
    const claim = await this.runtime.ledger.find(decisionKey(approvalId));
    return claim === undefined ? undefined : read(claim.value);
  }

  /**
   * Whether the outcome says what was decided. Executors record a decision in the ledger before they publish it; an
   * outcome without a ledger entry is forged.
   */
  async isDecided(outcome: ApprovalOutcome): Promise<boolean> {
    const { approvalId, notTaken, decision, decidedBy, reason, editedArguments } = outcome;
    if (notTaken !== null) return false;
    const taken = await this.decisionOn(approvalId);
    if (taken === undefined || taken === null || taken.decision !== decision) return false;
    // As the log gives it back.
    if ((taken.edited?.toWellFormed() ?? null) !== editedArguments) return false;
    return taken.decidedBy.toWellFormed() === decidedBy && taken.reason.toWellFormed() === reason;
  }

  /** Whether the turn goes on with this outcome, which is the first. */
  async goesOn(approvalId: string, owner: string): Promise<OnceClaim> {
    return claimOnce(resumedKey(approvalId), owner, this.runtime);
  }

  /** Whether the turn has gone on: a request that stands on the log behind that is a copy. */
  async hasGoneOn(approvalId: string): Promise<boolean> {
    return (await this.runtime.ledger.find(resumedKey(approvalId))) !== undefined;
  }

  /** True for the one sweep that sees to an expired approval within a minute. */
  async seesTo(approvalId: string, sweep: string): Promise<boolean> {
    return (await this.claim(`expiry/${approvalId}`, sweep, 60_000)).owner === sweep;
  }

  private claim(key: string, owner: string, ttlMs = claimMemoryMs) {
    return this.runtime.ledger.claim({ key, owner, now: this.runtime.clock.now(), ttlMs });
  }
}

function decisionKey(approvalId: string): string {
  return `approval/${approvalId}`;
}

function resumedKey(approvalId: string): string {
  return `resumed/${approvalId}`;
}

function vouchKey(requested: ApprovalRequested): string {
  return `asked/${requested.approvalId}/${digestOfRequest(requested)}`;
}

function read(value: string | null): ClaimedDecision | null {
  return value === null ? null : (JSON.parse(value) as ClaimedDecision);
}

/** What the decision means for its call. */
export function acceptedDecision(taken: ClaimedDecision | null): AcceptedDecision | null {
  if (taken === null) return null;
  const { decision, reason, edited, decidedBy } = taken;
  return { decision, reason, ...(edited === undefined ? {} : { edit: { arguments: edited, by: decidedBy } }) };
}
