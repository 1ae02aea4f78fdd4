import { claimAt } from '../identity/claims.js';
import { claimValues } from '../availability/measures.js';
import type { Principal } from '../identity/principal.js';
import type { JsonObject } from '../json.js';
import type { Authentication } from '../ports/identity.js';
import type { OnExpiry, Policy } from '../settings/policy-types.js';
import { wildcard } from '../rules/defaults.js';
import { matchesPattern } from '../rules/matches-pattern.js';
import { isSamePerson } from './person.js';
import type { Named } from './person.js';

/**
 * The outcome of an approval that was asked for. The executor alone says `expire`, and `run` where time was up and the
 * rules let the call run then.
 */
export type ApprovalDecision = 'approve' | 'refuse' | 'expire' | 'run';

/** Why a decision does not count. The call goes on waiting. */
export const rejectionReasons = {
  unknown_approval: 'No executor asked for this approval, or not where the decision says.',
  invalid_decision: 'The decision is neither `approve` nor `refuse`.',
  invalid_arguments:
    'The edited arguments are not the JSON of an object, not what their hash says, or come with a refusal, on a plan or on a call that needs several approvals.',
  other_arguments: 'The decision was made on other arguments than those of the call.',
  too_late: 'The time for a decision was up.',
  not_authenticated: 'Its credential is missing or not valid, or names another person than the decision does.',
  not_for_person: 'policy.approval.on_behalf does not let this service decide for this person.',
  not_an_approver:
    'policy.approval does not name the one who decided as an approver of this call, or that person belongs to another tenant.',
  own_call: 'Who asked may not approve it, as policy.approval says.',
  already_decided: 'Another decision came first, or this person has approved the call already.',
} as const satisfies Record<string, string>;

export type RejectionReason = keyof typeof rejectionReasons;

/** What asks for an approval, as the request for it says. */
export interface AskingRule {
  /** `rule`, `effect` or `plan`. */
  readonly rule: string;
  readonly name: string;
  readonly message: string;
  readonly quorum: number;
  readonly approvers: readonly string[];
  /** When the others may decide too, milliseconds since the epoch; null for never. */
  readonly escalatesAt: number | null;
  readonly escalateTo: readonly string[];
  readonly onExpiry: string;
}

/** What was asked for, as far as a decision is judged by it. */
export interface RequestedApproval {
  readonly approvalId: string;
  readonly argumentsHash: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
  readonly tenantId: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  /** Empty where one approval of an approver of the policy is enough. */
  readonly rules: readonly AskingRule[];
  /** What waits for an answer of its caller, and for no approval; absent or null for all others. */
  readonly question?: object | null;
}

type AskedCall = Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf' | 'tenantId' | 'requestedAt' | 'rules'>;

/** A decision as its author wrote it. */
export interface WrittenDecision {
  readonly approvalId: string;
  readonly decision: string;
  readonly argumentsHash: string;
  /** Whether the arguments that it gives the call, if any, can be taken (`isEditSound`). */
  readonly isEditSound: boolean;
  readonly editedArguments?: string | null;
}

/** Who decided. */
export interface Decider {
  readonly actorId: string;
  /** The person for whom it decides, as its credential says; null or absent for none. */
  readonly subjectId?: string | null;
  /** Null where no identity is configured, so that there are no tenants. */
  readonly tenantId: string | null;
  /** The service that brought the decision of this person; absent or null where it decided itself. */
  readonly through?: Named | null;
  /** Entries of approvers’ lists beside its name that its credential answers: `group:finance`, `role:treasurer`. */
  readonly named?: (entry: string) => boolean;
}

/** An approval of a call that counts, of several that it needs. */
export interface GivenApproval {
  readonly by: string;
  /** The person for whom it was given, beside who gave it; absent or null for none. */
  readonly for?: string | null;
  /** The names of the rules that it counts for. */
  readonly rules: readonly string[];
}

/** What decisions are judged by in the policy in force. */
export type DecisionPolicy = Pick<Policy, 'approvers' | 'requesterMayNotApprove' | 'approvalRules' | 'decideFor'>;

/** Beginnings of entries in approvers’ lists that a credential answers. */
export const approverKinds = ['group:', 'role:', 'claim:'] as const;

/** The one who decides, by a verified credential. */
export function deciderBy({
  principal: { actorId, tenantId, subjectId, groups },
  roles = [],
  claims = {},
}: Pick<Authentication & { ok: true }, 'principal' | 'roles' | 'claims'>): Decider {
  return { actorId, tenantId, subjectId, named: (entry) => isNamed(entry, groups, roles, claims) };
}

/**
 * The person for whom a service decides, as one who decides: by its name alone, of the service’s tenant. What the
 * person’s own credential would say is not known.
 */
export function deciderFor(service: Decider, person: string): Decider {
  const { actorId, subjectId = null, tenantId } = service;
  return { actorId: person, subjectId: null, tenantId, through: { actorId, subjectId } };
}

/**
 * Whether the policy lets the service, if it is one that brought the decision, decide for this person. One that acts
 * for a person of its own decides for no other.
 */
export function mayDecideFor({ actorId, through }: Decider, { decideFor = {} }: DecisionPolicy): boolean {
  if (through == null) return true;
  const isService = through.actorId.startsWith(serviceKind) && (through.subjectId ?? null) === null;
  if (!isService || !actorId.startsWith(personKind)) return false;
  const patterns = Object.hasOwn(decideFor, through.actorId) ? (decideFor[through.actorId] ?? []) : [];
  return patterns.some((pattern) => matchesPattern(pattern, actorId));
}

/** How the names of services and of persons begin. */
export const serviceKind = 'service:';
export const personKind = 'user:';

function isNamed(entry: string, groups: Principal['groups'], roles: readonly string[], claims: JsonObject): boolean {
  const kind = approverKinds.find((one) => entry.startsWith(one));
  if (kind === undefined) return false;
  const value = entry.slice(kind.length);
  switch (kind) {
    case 'group:':
      return groups.includes(value);
    case 'role:':
      return roles.includes(value);
    case 'claim:': {
      const equals = value.indexOf('=');
      return claimValues(claimAt(claims, value.slice(0, equals))).includes(value.slice(equals + 1));
    }
  }
}

/**
 * Why the decision does not count under the policy in force, or null if it does, should it be the first one. `at` is
 * when the log took it, milliseconds since the epoch: the time that the record states is not trusted. `asked` is null
 * where nothing was asked, `decider` where the decision does not prove whose it is.
 */
export function judgeDecision(
  asked: RequestedApproval | null,
  written: WrittenDecision,
  decider: Decider | null,
  at: number,
  policy: DecisionPolicy,
): RejectionReason | null {
  const { decision } = written;
  if (asked === null || asked.approvalId !== written.approvalId) return 'unknown_approval';
  if (decision !== 'approve' && decision !== 'refuse') return 'invalid_decision';
  if (asked.argumentsHash !== written.argumentsHash) return 'other_arguments';
  if (!written.isEditSound || (isEdit(written) && needsSeveral(asked))) return 'invalid_arguments';
  if (at >= asked.expiresAt) return 'too_late';
  if (decider === null) return 'not_authenticated';
  if (!mayDecideFor(decider, policy)) return 'not_for_person';
  if (asked.question != null) return isAsker(asked, decider) ? null : 'not_an_approver';
  if (entriesOf(asked, decider, at, policy).length === 0) return 'not_an_approver';
  return decision === 'approve' && rulesApprovedBy(asked, decider, at, policy).length === 0 ? 'own_call' : null;
}

/**
 * Which decisions on a waiting call would count if they came from this decider now, milliseconds since the epoch.
 * `given` are the approvals that count already: no one approves twice.
 */
export function decisionsOpenTo(
  asked: AskedCall & Pick<RequestedApproval, 'question'>,
  decider: Decider,
  policy: DecisionPolicy,
  now: number,
  given: readonly GivenApproval[] = [],
): readonly ('approve' | 'refuse')[] {
  // Its answer is more than a decision, and the caller’s client has the form.
  if (asked.question != null) return [];
  if (entriesOf(asked, decider, now, policy).length === 0) return [];
  const isGiven = given.some((one) => isApprovalOf(one, decider));
  return isGiven || rulesApprovedBy(asked, decider, now, policy).length === 0 ? ['refuse'] : ['approve', 'refuse'];
}

function isEdit({ editedArguments = null }: WrittenDecision): boolean {
  return editedArguments !== null;
}

/** Whether the decider made the call, for the same person if for one, and waits for its answer or is asked for it. */
function isAsker(
  { requestedBy, onBehalfOf, tenantId: ofTenant }: Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf' | 'tenantId'>,
  { actorId, subjectId = null, tenantId, through = null }: Decider,
): boolean {
  if (through !== null || actorId !== requestedBy) return false;
  // Without tenants there is no identity, and no one acts for another.
  return tenantId === null || (tenantId === ofTenant && subjectId === onBehalfOf);
}

/** Whether more than one approval may be needed: then no one changes what others approve. */
function needsSeveral({ rules }: Pick<RequestedApproval, 'rules'>): boolean {
  return rules.length > 1 || rules.some(({ quorum }) => quorum > 1);
}

/** Whether there can be a call that the decider may decide on. */
export function isAnyApprover(decider: Decider, policy: DecisionPolicy): boolean {
  return allApprovers(policy).some((entry) => isEntryOf(decider, entry));
}

/** All entries of the policy that name who may decide on some call, each once. */
export function allApprovers({
  approvers,
  approvalRules = [],
}: Pick<DecisionPolicy, 'approvers' | 'approvalRules'>): readonly string[] {
  const ofRules = approvalRules.flatMap((rule) => [...(rule.approvers ?? []), ...(rule.escalate?.to ?? [])]);
  return [...new Set([...approvers, ...ofRules])];
}

/** What asks for the approval, with who may decide under the policy in force. */
export function rulesInForce(
  { rules, requestedAt }: Pick<AskedCall, 'rules' | 'requestedAt'>,
  policy: DecisionPolicy,
): readonly AskingRule[] {
  const { approvers, approvalRules = [] } = policy;
  const plain = { rule: 'effect', name: '', message: '', quorum: 1, escalatesAt: null, escalateTo: [] };
  if (rules.length === 0) return [{ ...plain, approvers, onExpiry: 'refuse' }];
  return rules.map((rule) => {
    if (rule.rule !== 'rule') return { ...rule, approvers };
    const now = approvalRules.find(({ name }) => name === rule.name);
    // A rule that is gone has the approvers that it had.
    if (now === undefined) return rule;
    const { escalate } = now;
    return {
      ...rule,
      approvers: now.approvers ?? approvers,
      // A call that an approver was to see runs without one only while both say so.
      onExpiry: rule.onExpiry === 'run' ? now.onExpiry : 'refuse',
      escalatesAt: escalate === undefined ? null : requestedAt + escalate.afterMs,
      escalateTo: escalate?.to ?? [],
    };
  });
}

/** Who may decide for the rule at this time, milliseconds since the epoch. */
export function approversAt({ approvers, escalatesAt, escalateTo }: AskingRule, at: number): readonly string[] {
  return escalatesAt !== null && at >= escalatesAt ? [...new Set([...approvers, ...escalateTo])] : approvers;
}

/**
 * The names of the rules for which an approval of this decider counts. The one who asked never counts where several
 * persons have to approve.
 */
function rulesApprovedBy(asked: AskedCall, decider: Decider, at: number, policy: DecisionPolicy): readonly string[] {
  const asker = { actorId: asked.requestedBy, subjectId: asked.onBehalfOf };
  // A service that asked brings no approval of its own call either.
  const isOwn = isSamePerson(decider, asker) || (decider.through != null && isSamePerson(decider.through, asker));
  return rulesInForce(asked, policy).flatMap((rule) => {
    if (isOwn && (policy.requesterMayNotApprove || rule.quorum > 1)) return [];
    return entriesFor(rule, asked.tenantId, decider, at).length > 0 ? [keyOfRule(rule)] : [];
  });
}

/** What a decision that counts is for, and the entries of the approvers’ lists beside a name that it counts by. */
export function countsFor(
  asked: AskedCall,
  decision: string,
  decider: Decider,
  at: number,
  policy: DecisionPolicy,
): { readonly rules: readonly string[]; readonly decidedAs: readonly string[] } {
  const isApproval = decision === 'approve' && asked.rules.length > 0;
  const entries = entriesOf(asked, decider, at, policy);
  return {
    rules: isApproval ? rulesApprovedBy(asked, decider, at, policy) : [],
    decidedAs: entries.filter((entry) => approverKinds.some((kind) => entry.startsWith(kind))),
  };
}

/** Whether the approval is one of this person: each has one. */
export function isApprovalOf({ by, for: subjectId = null }: GivenApproval, decider: Decider): boolean {
  return isSamePerson({ actorId: by, subjectId }, decider);
}

/** The entries of the approvers’ lists that name the decider. */
function entriesOf(
  asked: Pick<AskedCall, 'tenantId' | 'requestedAt' | 'rules'>,
  decider: Decider,
  at: number,
  policy: DecisionPolicy,
): readonly string[] {
  const entries = rulesInForce(asked, policy).flatMap((rule) => entriesFor(rule, asked.tenantId, decider, at));
  return [...new Set(entries)];
}

function entriesFor(rule: AskingRule, ofTenant: string, decider: Decider, at: number): readonly string[] {
  const { actorId, tenantId } = decider;
  if (actorId === '' || (tenantId !== null && tenantId !== ofTenant)) return [];
  return approversAt(rule, at).filter((entry) => isEntryOf(decider, entry));
}

export function isEntryOf({ actorId, named }: Decider, entry: string): boolean {
  if (actorId === '') return false;
  if (entry === wildcard) return true;
  if (approverKinds.some((kind) => entry.startsWith(kind))) return named?.(entry) ?? false;
  return entry === actorId;
}

/** How many approvals each rule of the request still waits for, by its key, after those that were given. */
export function stillNeeded(
  rules: readonly AskingRule[],
  given: readonly GivenApproval[],
): readonly { readonly rule: AskingRule; readonly given: number; readonly needed: number }[] {
  return rules.map((rule) => {
    const count = given.filter((one) => one.rules.includes(keyOfRule(rule))).length;
    return { rule, given: count, needed: Math.max(0, rule.quorum - count) };
  });
}

/** How many approvals the call waits for, after those that were given. */
export function approvalsMissing(rules: readonly AskingRule[], given: readonly GivenApproval[]): number {
  return stillNeeded(rules, given).reduce((sum, { needed }) => sum + needed, 0);
}

/** What happens to the call when its time is up: it runs where all that asks says so. */
export function onExpiryOf(rules: readonly Pick<AskingRule, 'onExpiry'>[]): OnExpiry {
  return rules.length > 0 && rules.every(({ onExpiry }) => onExpiry === 'run') ? 'run' : 'refuse';
}

/** Names what asks among the others of one request. */
export function keyOfRule({ rule, name }: Pick<AskingRule, 'rule' | 'name'>): string {
  return rule === 'rule' ? name : `(${rule})`;
}

export function isRejectionReason(code: string): code is RejectionReason {
  return Object.hasOwn(rejectionReasons, code);
}
