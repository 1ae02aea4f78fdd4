import { allGiven, compileBounds, outOfBounds } from '../bounds/compile-bounds.js';
import { withSchemaDefaults } from '../bounds/schema-defaults.js';
import type { ArgumentBounds, BoundFacts, Lists } from '../bounds/types.js';
import type { JsonValue } from '../json.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Policy } from '../settings/policy-types.js';
import { isSamePerson } from './person.js';
import { allApprovers, isAnyApprover, isEntryOf } from './decision.js';
import type { Decider, DecisionPolicy } from './decision.js';
import { approvalAsks } from './needs-approval.js';
import type { ApprovalAsk } from './needs-approval.js';
import { claimMemoryMs } from '../time-limits.js';

/** The fact of a step that says by which standing approval its call ran. */
export const standingFact = 'approval/standing';

/** Standing approvals that a tenant may have in force. */
export const mostStanding = 200;
/** Calls that one may let through. */
export const mostStandingCalls = 1_000;
/** How long one may hold, milliseconds: its record and its count are kept for a week. */
const longestStandingMs = claimMemoryMs;

/** Why an approver’s word on calls to come does not count. */
export const standingRejections = {
  invalid_standing:
    'It names no tool of the configuration that can be approved so, no user (or, where no identity is configured, neither user nor session), a time or number of calls that is out of range, or bounds that cannot be read.',
  unknown_standing: 'The tenant has no such standing approval in force.',
  too_many_standing: `The tenant has ${mostStanding} standing approvals in force.`,
  not_authenticated: 'Its credential is missing or not valid, or names another person than it does.',
  not_an_approver: 'Who decided could not approve such a call alone, as policy.approval says.',
  own_call: 'Who makes the calls may not approve them, as policy.approval says.',
  already_decided: 'Another one has this id.',
} as const satisfies Record<string, string>;

export type StandingRejection = keyof typeof standingRejections;

export function isStandingRejection(code: string): code is StandingRejection {
  return Object.hasOwn(standingRejections, code);
}

/** What an approver says of calls to come. */
export interface GivenStanding {
  readonly id: string;
  /** The tool’s id. */
  readonly tool: string;
  /** What the arguments may be; null for whatever the tool takes. */
  readonly bounds: ArgumentBounds | null;
  /** Empty for all sessions of the user. */
  readonly session: string;
  /** Empty for a session’s, which can be where no identity is configured. */
  readonly user: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** How many calls it lets through. */
  readonly calls: number;
}

/** A standing approval as the ledger keeps it. */
export interface StandingApproval extends GivenStanding {
  readonly givenBy: string;
  /** The person for whom it was given, beside who gave it; absent or null for none. */
  readonly givenFor?: string | null;
  /** The entries of the approvers’ lists that named who gave it. */
  readonly givenAs: readonly string[];
  readonly reason: string;
  readonly givenAt: number;
  /** When it was revoked, and by whom; null while it holds. */
  readonly revoked: { readonly by: string; readonly at: number; readonly reason: string } | null;
}

/** Why a standing approval cannot be given, or null if it can. `tenantId` is that for which it is given. */
export function judgeStanding(
  given: GivenStanding | null,
  decider: Decider | null,
  at: number,
  { policy, tools }: { readonly policy: Policy; readonly tools: readonly ConfiguredTool[] },
): StandingRejection | null {
  if (decider === null) return 'not_authenticated';
  if (!isAnyApprover(decider, policy)) return 'not_an_approver';
  if (given === null) return 'invalid_standing';
  const { id, session, user, until, calls } = given;
  const tool = tools.find((one) => one.id === given.tool);
  const isForOne = user !== '' || (session !== '' && decider.tenantId === null);
  const isInTime = until > at && until <= at + longestStandingMs;
  const isCounted = Number.isInteger(calls) && calls >= 1 && calls <= mostStandingCalls;
  if (tool === undefined || !canStand(tool) || id === '' || !isForOne || !isInTime || !isCounted)
    return 'invalid_standing';
  const asks = approvalAsks(tool, policy);
  if (asks.length === 0 || asks.some(({ quorum }) => quorum > 1)) return 'invalid_standing';
  if (!answers(entriesOfDecider(decider, policy), asks)) return 'not_an_approver';
  const isOwn = user !== '' && isSamePerson(decider, { actorId: user });
  return policy.requesterMayNotApprove && isOwn ? 'own_call' : null;
}

/** A call of an agent is a run, and a plan many calls: both are approved each by itself. */
function canStand({ agent, plan }: Pick<ConfiguredTool, 'agent' | 'plan'>): boolean {
  return agent === undefined && plan === undefined;
}

/** The entries of the approvers’ lists that name the decider: by these it is judged at each use again. */
export function entriesOfDecider(decider: Decider, policy: DecisionPolicy): readonly string[] {
  return allApprovers(policy).filter((entry) => isEntryOf(decider, entry));
}

/** Whether one who is in the lists by these entries could approve the call alone, whatever asks. */
function answers(entries: readonly string[], asks: readonly Pick<ApprovalAsk, 'quorum' | 'approvers'>[]): boolean {
  return asks.every(({ quorum, approvers }) => quorum === 1 && approvers.some((entry) => entries.includes(entry)));
}

/** A call that needs an approval, as standing approvals are looked through for it. */
interface StandingCall {
  readonly tool: Pick<ConfiguredTool, 'id' | 'agent' | 'plan' | 'spec'>;
  readonly args: JsonValue;
  readonly session: string;
  readonly actorId: string;
  readonly subjectId: string | null;
  /** Whether an identity says who that is. */
  readonly isIdentified: boolean;
  readonly facts: BoundFacts;
  /** What asks for its approval. */
  readonly asks: readonly Pick<ApprovalAsk, 'quorum' | 'approvers'>[];
}

/**
 * The standing approvals that let the call through at this time, the one that ends first before the others. Who gave
 * it must be an approver still, and not who makes the call where policy forbids that.
 */
export function standingFor(
  all: readonly StandingApproval[],
  call: StandingCall,
  at: number,
  policy: Pick<Policy, 'requesterMayNotApprove'>,
  lists: Lists = {},
): readonly StandingApproval[] {
  const { tool, session, actorId, subjectId, isIdentified, facts, asks } = call;
  if (!canStand(tool)) return [];
  const args = withSchemaDefaults(tool.spec?.inputSchema, call.args);
  const found = all.filter((one) => {
    if (one.tool !== tool.id || one.revoked !== null || one.until <= at) return false;
    if (one.session !== '' && one.session !== session) return false;
    // Any caller may name any session.
    if (one.user === '' ? isIdentified : one.user !== actorId && one.user !== subjectId) return false;
    if (!answers(one.givenAs, asks)) return false;
    const giver = { actorId: one.givenBy, subjectId: one.givenFor ?? null };
    if (policy.requesterMayNotApprove && isSamePerson(giver, { actorId, subjectId })) return false;
    return one.bounds === null || outOfBounds(compileBounds(allGiven(one.bounds), lists), args, facts) === null;
  });
  return found.sort((one, other) => one.until - other.until);
}
