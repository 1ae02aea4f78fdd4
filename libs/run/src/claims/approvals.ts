import { claimMemoryMs, isApprovalOf } from '@sluice/core';
import type { ApprovalDecision, GivenApproval } from '@sluice/core';
import { positionOf, sha256 } from '@sluice/contracts';
import type { ApprovalEscalated, ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import { claimOnce, keepOnce } from './once.js';
import type { OnceClaim } from './once.js';
import type { AcceptedDecision } from '../approvals/request.js';
import { digestOfRecord, digestOfRequest, mayBeFormer, wholeDigestOfRequest } from './vouched.js';
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
  /** A digest of what it is a decision on; absent where an earlier version wrote it. */
  readonly bound?: string;
  /** For what and with whom it counts, as its outcome says; absent where an earlier version wrote it. */
  readonly counted?: Counted;
}

/** For whom a decision was made, and for what and with whom it counts. */
type Counted = Pick<ApprovalOutcome, 'decidedFor' | 'rules' | 'approvedBy' | 'decidedAs'> & {
  /** Absent where an earlier version wrote it. */
  readonly decidedThrough?: string | null;
};

/** One of several approvals that a call needs, as the ledger keeps it. */
interface ClaimedApproval extends GivenApproval {
  /** The place of the decision on the log. */
  readonly position: string;
  /** When the log took it, milliseconds since the epoch. */
  readonly at: number;
  readonly reasonHash: string;
  /** The service that gave it for this person; absent for none. */
  readonly through?: string;
}

/** Approvals of one call that count, at most: more than any quorum. */
const mostApprovals = 100;

/** All executors together: any of them may attest the same. */
const executors = 'service:executor';

interface RecordPlace {
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
    const position = positionOf(requested);
    await this.claim(wholeKey(requested), position);
    // Former instances look here. For this version what stands here alone says nothing.
    await this.claim(vouchKey(requested), `${position}${besideWhole}`);
  }

  async isVouched(requested: ApprovalRequested): Promise<boolean> {
    if ((await this.runtime.ledger.find(wholeKey(requested))) !== undefined) return true;
    if (!mayBeFormer(requested)) return false;
    const former = await this.runtime.ledger.find(vouchKey(requested));
    return former !== undefined && !former.owner.endsWith(besideWhole);
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
    const claim = await keepOnce(decisionKey(approvalId), owner, JSON.stringify(decision), this.runtime);
    return { first: claim.owner === owner, taken: read(claim.value) };
  }

  /**
   * Adds an approval to those of a call that needs several; each approver has one. Returns all up to it, and `isOwn`
   * false where the approver has one from another decision. They stand in one order, so that each executor finds the
   * same one to be the last that was needed.
   */
  async addApproval(
    approvalId: string,
    { reason, ...given }: Omit<ClaimedApproval, 'reasonHash'> & { readonly reason: string },
  ): Promise<{ readonly isOwn: boolean; readonly given: readonly GivenApproval[] }> {
    // The whole approval is the owner of its claim: what is claimed is complete at once.
    const owner = JSON.stringify({ ...given, reasonHash: sha256(reason.toWellFormed()) });
    const person = { actorId: given.by, subjectId: given.for ?? null, tenantId: null };
    const before: ClaimedApproval[] = [];
    while (before.length < mostApprovals) {
      const claim = await this.claim(givenKey(approvalId, before.length), owner);
      const one = JSON.parse(claim.owner) as ClaimedApproval;
      before.push(one);
      if (one.position === given.position || isApprovalOf(one, person))
        return { isOwn: one.position === given.position, given: before };
    }
    return { isOwn: false, given: before };
  }

  /** The approvals of a call that needs several, in their order. */
  async approvalsOf(approvalId: string): Promise<readonly ClaimedApproval[]> {
    const found: ClaimedApproval[] = [];
    while (found.length < mostApprovals) {
      const claim = await this.runtime.ledger.find(givenKey(approvalId, found.length));
      if (claim === undefined) break;
      found.push(JSON.parse(claim.owner) as ClaimedApproval);
    }
    return found;
  }

  /** Keeps where an attested request stands on its topic, for who knows the approval by its id alone. */
  async keepPlace(approvalId: string, { partition, offset }: RecordPlace): Promise<void> {
    await this.claim(placeKey(approvalId), `${String(partition)}/${String(offset)}`);
  }

  /** Where it stands; undefined where no notifier has read it. */
  async placeOf(approvalId: string): Promise<RecordPlace | undefined> {
    const owner = (await this.runtime.ledger.find(placeKey(approvalId)))?.owner;
    if (owner === undefined) return undefined;
    const [partition = 0, offset = 0] = owner.split('/').map(Number);
    return { partition, offset };
  }

  /** Whether a record that others may decide too for this rule is on the log. */
  async hasEscalated(approvalId: string, rule: string): Promise<boolean> {
    return ((await this.runtime.ledger.find(escalatedKey(approvalId, rule)))?.value ?? null) !== null;
  }

  /** Attests that others may decide too: who, since when, and all else that the record says. */
  async escalate(escalated: ApprovalEscalated): Promise<void> {
    const { approvalId, rule } = escalated;
    await this.claim(wholeEscalationKey(escalated), executors);
    await this.claim(attestedWholeKey(approvalId, rule), executors);
    // Former instances look here.
    await this.claim(escalatedKey(approvalId, rule), executors);
  }

  /** The record that says so is on the log. */
  async settleEscalation({ approvalId, rule }: Pick<ApprovalEscalated, 'approvalId' | 'rule'>): Promise<void> {
    await this.runtime.ledger.settle(escalatedKey(approvalId, rule), executors, 'published');
  }

  /** Whether an executor said exactly this of others who may decide too; one of a former version attested less. */
  async isEscalated(escalated: ApprovalEscalated): Promise<boolean> {
    const { ledger } = this.runtime;
    const { approvalId, rule } = escalated;
    if ((await ledger.find(wholeEscalationKey(escalated))) !== undefined) return true;
    if ((await ledger.find(attestedWholeKey(approvalId, rule))) !== undefined) return false;
    return (await ledger.find(escalatedKey(approvalId, rule))) !== undefined;
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
    const { approvalId, notTaken, stillNeeded, decision, decidedBy, reason, editedArguments } = outcome;
    if (notTaken !== null) return false;
    if (stillNeeded > 0) {
      const given = await this.approvalsOf(approvalId);
      const place = given.findIndex((one) => isSaid(one, outcome));
      const before = given.slice(0, place + 1).map(({ by }) => by);
      return decision === 'approve' && place >= 0 && isSameList(before, outcome.approvedBy);
    }
    const taken = await this.decisionOn(approvalId);
    if (taken === undefined || taken === null || taken.decision !== decision) return false;
    // As the log gives it back.
    if ((taken.edited?.toWellFormed() ?? null) !== editedArguments) return false;
    if (taken.counted !== undefined && !isCountedSo(taken.counted, outcome)) return false;
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

  /** True for the one sweep that sees to an approval that expired, or is to escalate, within a minute. */
  async seesTo(approvalId: string, sweep: string): Promise<boolean> {
    return (await this.claim(`expiry/${approvalId}`, sweep, 60_000)).owner === sweep;
  }

  private claim(key: string, owner: string, ttlMs = claimMemoryMs) {
    return this.runtime.ledger.claim({ key, owner, now: this.runtime.clock.now(), ttlMs });
  }
}

function placeKey(approvalId: string): string {
  return `notified/${approvalId}`;
}

function decisionKey(approvalId: string): string {
  return `approval/${approvalId}`;
}

function givenKey(approvalId: string, place: number): string {
  return `approval/${approvalId}/${place}`;
}

function escalatedKey(approvalId: string, rule: string): string {
  return `escalated/${approvalId}/${rule}`;
}

function wholeEscalationKey(escalated: ApprovalEscalated): string {
  return `escalation/${escalated.approvalId}/${digestOfRecord('ApprovalEscalated', escalated)}`;
}

/** Where it stands that an escalation was attested with all that its record says. */
function attestedWholeKey(approvalId: string, rule: string): string {
  return `escalation/${approvalId}/rule/${rule}`;
}

/** As the log gives it back. */
function isSaid(
  { by, for: of, through, reasonHash, rules }: ClaimedApproval,
  outcome: Pick<ApprovalOutcome, 'decidedBy' | 'decidedFor' | 'decidedThrough' | 'reason' | 'rules'>,
): boolean {
  const { decidedBy, decidedFor, decidedThrough, reason } = outcome;
  const isBy = by.toWellFormed() === decidedBy && (of?.toWellFormed() ?? null) === decidedFor;
  const isThrough = (through?.toWellFormed() ?? null) === decidedThrough;
  return isBy && isThrough && reasonHash === sha256(reason) && isSameList(rules, outcome.rules);
}

function isCountedSo(counted: Counted, said: Counted): boolean {
  const { decidedFor, decidedThrough = null, rules, approvedBy, decidedAs } = counted;
  if ((decidedThrough?.toWellFormed() ?? null) !== (said.decidedThrough ?? null)) return false;
  const isFor = (decidedFor?.toWellFormed() ?? null) === said.decidedFor;
  const isBy = isSameList(approvedBy, said.approvedBy) && isSameList(decidedAs, said.decidedAs);
  return isFor && isBy && isSameList(rules, said.rules);
}

/** As the log gives the first one back. */
function isSameList(own: readonly string[], said: readonly string[]): boolean {
  return own.length === said.length && own.every((one, place) => one.toWellFormed() === said[place]);
}

function resumedKey(approvalId: string): string {
  return `resumed/${approvalId}`;
}

/** How the owner of a former key ends that stands beside a key over the whole request. */
const besideWhole = '/whole';

function wholeKey(requested: ApprovalRequested): string {
  return `asked/${requested.approvalId}/whole/${wholeDigestOfRequest(requested)}`;
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
  const { decision, reason, edited, decidedBy, bound } = taken;
  return {
    ...{ decision, reason },
    ...(bound === undefined ? {} : { bound }),
    ...(edited === undefined ? {} : { edit: { arguments: edited, by: decidedBy } }),
  };
}
