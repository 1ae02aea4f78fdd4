import { defaultAgent, isSecurityFault, printable, scopeOf } from '@sluice/core';
import type { IncludedText, JsonObject, NotificationEvent, SpanBudget } from '@sluice/core';
import { sha256, topicEntry, topics } from '@sluice/contracts';
import type {
  AgentResponse,
  ApprovalEscalated,
  ApprovalOutcome,
  ApprovalRequested,
  DeadLetter,
  Topic,
} from '@sluice/contracts';
import { pastCallerOf } from '@sluice/run';
import type { ChangedTool } from '@sluice/run';

/** Characters of a name that a record brings which no service wrote. */
const mostNameCharacters = 100;

/** What happened, for whichever subscription wants it. */
export interface Happened {
  readonly id: string;
  readonly event: NotificationEvent;
  /** The id of a run or an approval, the place of a dead letter, the version of a configuration, or a server’s tool. */
  readonly subject: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly tenantId: string | null;
  /** Whose run it is about, as rules name agents; null where it is about none. */
  readonly agent: string | null;
  /** Empty for what has no end yet. */
  readonly outcome: string;
  readonly at: number;
  readonly stage: number;
  readonly data: JsonObject;
  /** Where the console shows it, below its address. */
  readonly page: string;
  /** What is left out unless a subscription includes it. */
  readonly texts: Readonly<Partial<Record<IncludedText, string>>>;
}

/** One end of a run. A run that another one called is a part of that one and has no event of its own. */
export function endOfRun(record: AgentResponse): Happened | null {
  const { requestId, sessionId, run, error, incomplete, question, answer, state, iterations, endedAt } = record;
  if (run !== null && run.parent !== null) return null;
  const tenantId = run?.principal?.tenantId ?? record.tenantId;
  const agent = record.agent ?? defaultAgent;
  const event = error === null ? 'run.ended' : 'run.failed';
  const outcome = error?.code ?? (incomplete === null ? 'answer' : 'incomplete');
  return {
    ...{
      id: idOf('run', tenantId, requestId, endedAt),
      event,
      subject: requestId,
      requestId,
      sessionId,
      tenantId,
      agent,
      outcome,
    },
    ...{ at: endedAt, stage: stageOf(topics.responses), page: `/runs/${encodeURIComponent(requestId)}` },
    data: {
      ...{ request_id: requestId, session_id: sessionId, tenant: tenantId, agent, outcome },
      requested_by: run?.principal?.actorId ?? null,
      ...{ state, iterations, ended_at: iso(endedAt) },
    },
    texts: { question, ...(answer === null ? {} : { answer }) },
  };
}

/** A call waits for an approver. */
export function approvalWaits(requested: ApprovalRequested): Happened {
  const { approvalId, requestedAt, expiresAt } = requested;
  return {
    ...ofApproval(requested, idOf('waiting', approvalId, requestedAt)),
    ...{ event: 'approval.waiting', outcome: '', at: requestedAt },
    data: { ...aboutCall(requested), expires_at: iso(expiresAt) },
  };
}

/** An approval counted, and the call waits for others still. `approvedBy` are all up to it, who gave it last. */
export function approvalCounts(
  { approvedBy, at, stillNeeded }: { readonly approvedBy: readonly string[]; at: number; stillNeeded: number },
  requested: ApprovalRequested,
): Happened {
  const { approvalId, expiresAt } = requested;
  return {
    ...ofApproval(requested, idOf('counted', approvalId, approvedBy.length)),
    ...{ event: 'approval.counted', outcome: '', at },
    data: {
      ...{ ...aboutCall(requested), approved_by: [...approvedBy], decided_by: approvedBy.at(-1) ?? null },
      ...{ still_needed: stillNeeded, decided_at: iso(at), expires_at: iso(expiresAt) },
    },
  };
}

export function approvalEscalates({ rule, to, at }: ApprovalEscalated, requested: ApprovalRequested): Happened {
  return {
    ...ofApproval(requested, idOf('escalated', requested.approvalId, rule, at)),
    ...{ event: 'approval.escalated', outcome: '', at },
    data: { ...aboutCall(requested), expires_at: iso(requested.expiresAt), rule, escalated_to: [...to] },
  };
}

export function approvalEnds({ decision, decidedBy, at }: ApprovalOutcome, requested: ApprovalRequested): Happened {
  return {
    ...ofApproval(requested, idOf('decided', requested.approvalId, at)),
    ...{ event: 'approval.ended', outcome: decision, at },
    data: { ...aboutCall(requested), outcome: decision, decided_by: decidedBy, decided_at: iso(at) },
  };
}

/** What is known of the record that a dead letter holds. */
export interface DeadRecord {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tenantId: string | null;
  readonly agent: string | null;
}

/** `place` is where the letter stands; `dead` is null where the record cannot be read. The reason may quote content. */
export function deadLetter(letter: DeadLetter, place: string, dead: DeadRecord | null): Happened {
  const { topic, partition, offset, group, code, attempts, failedAt } = letter;
  const { requestId, sessionId, tenantId } = dead ?? { requestId: '', sessionId: '', tenantId: null };
  const agent = dead === null || dead.agent === null ? null : shortName(dead.agent);
  return {
    ...{ id: idOf('dead', topic, partition, offset, group, failedAt), event: 'dead_letter', subject: place },
    ...{ requestId, sessionId, tenantId, agent, outcome: code, at: failedAt, stage: stageOf(topics.deadLetters) },
    page: '/dead-letters',
    data: {
      ...{
        dead_letter: place,
        outcome: code,
        is_security_event: isSecurityFault(code),
        topic,
        service: group,
        attempts,
      },
      ...{ request_id: requestId === '' ? null : requestId, tenant: tenantId, agent, failed_at: iso(failedAt) },
    },
    texts: {},
  };
}

/** A budget with a span that refused a run’s model call. */
interface ReachedBudget {
  /** Names the budget and whose calls it counts together. */
  readonly key: string;
  readonly withinMs: number;
  readonly happened: Happened;
}

/**
 * The budget that ended the run; null where none did, and where the call alone is larger than the whole budget, which
 * the end of the run says. `keyOf` gives the key of a tool that is an agent.
 */
export function budgetReached(record: AgentResponse, keyOf: (toolId: string) => string): ReachedBudget | null {
  const { requestId, sessionId, run, error, budgets, endedAt } = record;
  const budget = budgets.find(({ opensAt }) => opensAt !== null);
  if (error?.code !== 'span_budget_exceeded' || budget === undefined || run === null) return null;
  const { per, withinMs, unit, used, adds, opensAt } = budget;
  const agent = run.parent === null ? (record.agent ?? defaultAgent) : keyOf(run.parent.tool);
  const caller = pastCallerOf({ principal: run.principal, agent }, record);
  const tenantId = run.principal?.tenantId ?? null;
  const key = JSON.stringify([unit, withinMs, scopeOf(per as SpanBudget['per'], caller)]);
  return {
    ...{ key, withinMs },
    happened: {
      ...{ id: idOf('budget', key, tenantId, requestId, endedAt), event: 'budget.reached', subject: requestId },
      ...{ requestId, sessionId, tenantId, agent, outcome: '', at: endedAt, stage: stageOf(topics.responses) },
      ...{ page: `/runs/${encodeURIComponent(requestId)}`, texts: {} },
      data: {
        ...{ request_id: requestId, session_id: sessionId, tenant: tenantId, agent },
        ...{ per, user: per === 'user' ? caller.userId : null },
        ...{ within_seconds: withinMs / 1_000, unit, used, wanted: adds },
        opens_at: opensAt === null ? null : iso(opensAt),
      },
    },
  };
}

/** A configuration that services do not take. What is not signed says nothing else that can be believed. */
export function configurationRefused(version: string, reason: string, at: number): Happened {
  const subject = shortName(version);
  return {
    ...{ id: idOf('configuration', version, reason), event: 'configuration.refused', subject },
    ...{ requestId: '', sessionId: '', tenantId: null, agent: null, outcome: '', at, stage: 0 },
    ...{ page: '/policy', texts: {} },
    data: { config_version: subject, reason, refused_at: iso(at) },
  };
}

/** A tool that its MCP server changed since it was allowed, by an executor’s report. Its texts are behind the link. */
export function heldBack(server: string, { name, pin }: ChangedTool, at: number): Happened {
  const [ofServer, tool] = [shortName(server), shortName(name)];
  return {
    ...{ id: idOf('held_back', server, name, pin), event: 'server.held_back', subject: `${ofServer}/${tool}` },
    ...{ requestId: '', sessionId: '', tenantId: null, agent: null, outcome: '', at, stage: 0 },
    ...{ page: '/servers', texts: {} },
    data: { server: ofServer, tool, pin, seen_at: iso(at) },
  };
}

function ofApproval({ approvalId, requestId, sessionId, tenantId, agent }: ApprovalRequested, id: string) {
  return {
    ...{ id, subject: approvalId, requestId, sessionId, tenantId: tenantId === '' ? null : tenantId },
    agent: agent ?? defaultAgent,
    ...{ stage: stageOf(topics.approvals), page: `/approvals/${encodeURIComponent(approvalId)}`, texts: {} },
  };
}

/** Without arguments and thought: they are for approvers. */
function aboutCall(requested: ApprovalRequested): JsonObject {
  const { approvalId, requestId, sessionId, tenantId, tool, effect, requestedBy, argumentsHash } = requested;
  return {
    ...{ approval_id: approvalId, request_id: requestId, session_id: sessionId, tenant: tenantId || null },
    ...{
      agent: requested.agent ?? defaultAgent,
      tool,
      effect,
      requested_by: requestedBy,
      arguments_hash: argumentsHash,
    },
  };
}

/** The same for the same record, however often it is read. It has no dot, which separates what a webhook signs. */
function idOf(...parts: readonly (string | number | null)[]): string {
  return `evt_${sha256(JSON.stringify(parts)).slice(0, 40)}`;
}

function stageOf(topic: Topic): number {
  return topicEntry(topic).stage;
}

function shortName(name: string): string {
  return printable(name).slice(0, mostNameCharacters).toWellFormed();
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
