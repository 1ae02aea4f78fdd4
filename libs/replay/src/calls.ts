import { allowed, argumentsRefused, authorize, eligible, utf8Length } from '@sluice/core';
import type {
  AuthorizationAction,
  AuthorizationPort,
  Configuration,
  Evaluator,
  JsonValue,
  Step,
  ToolExecResult,
  Verdict,
} from '@sluice/core';
import type { ApprovalOutcome, RequestedCall, ToolCall } from '@sluice/contracts';
import {
  approvalIdOf,
  approvalVerdict,
  callerOf,
  callIdOf,
  callKeyOf,
  connectionsOf,
  invalidJson,
  isApprovalNeeded,
  judgeConnection,
  parseArguments,
  timeWasUp,
} from '@sluice/decisions';
import type { TurnSoFar } from '@sluice/decisions';
import { NotReplayable } from './outcome.js';

/** Who decides what is permitted under a configuration. */
export type AuthorizerOf = (configuration: Configuration) => AuthorizationPort;

/** Under what a call was judged. */
export interface Judging {
  readonly granting: Evaluator;
  readonly inForce: Evaluator;
  readonly authorizerOf: AuthorizerOf;
}

export interface Called {
  readonly record: ToolCall;
  readonly call: RequestedCall;
  readonly index: number;
  readonly offered: ReadonlySet<string>;
  readonly turn: TurnSoFar;
}

/** The stage that a call came to before its tool: a result; or the tool itself, or an approval. */
export type Admission =
  | { readonly kind: 'refused'; readonly result: ToolExecResult & { ok: false } }
  | { readonly kind: 'approval'; readonly approvalId: string }
  | { readonly kind: 'admitted' };

/**
 * The stages of the pipeline that decide without the tool, in its order (core’s runTool). What only the recorded run can know (whether
 * the tool was there, an authorizer out of reach, a connection that is not configured, the clock) is taken from the recorded step, null where there is none.
 */
export async function admit(called: Called, judging: Judging, recorded: Step | null): Promise<Admission> {
  const { record, call, index, offered, turn } = called;
  const { granting, inForce } = judging;
  const toolCallId = callIdOf(record, call, index);
  const args = parseArguments(call.arguments);
  if (args === undefined) return refused(invalidJson(toolCallId));
  if (recorded !== null && isLate(recorded, record)) return refused(timeWasUp(toolCallId));

  const connections = connectionsOf(record, granting);
  const completed = turn.answer !== null;
  const nested = record.run.parent !== null;
  const { groups, toolChoice } = record;
  const { state, calls } = turn;
  const facts = { groups, state, offered, toolChoice, calls, completed, connections, nested };
  for (const stage of [eligible, allowed]) {
    const verdict = stage(call.tool, facts, { granting, inForce });
    if (!verdict.ok) return refused(failure(toolCallId, verdict));
  }
  if (recorded !== null && isFact(recorded)) return { kind: 'admitted' };
  const permitted = await permission(called, judging, toolCallId);
  if (!permitted.ok) return refused(failure(toolCallId, permitted));
  if (recorded?.reason === 'connection_missing') return { kind: 'admitted' };
  const connected = await connection(called, judging, toolCallId);
  if (!connected.ok) return refused(failure(toolCallId, connected));
  return judgeArguments(called, judging, args, recorded, toolCallId);
}

function judgeArguments(
  { record, call, index }: Called,
  { granting, inForce }: Judging,
  args: JsonValue,
  recorded: Step | null,
  toolCallId: string,
): Admission {
  const { limits } = granting.configuration;
  const oversized = argumentsRefused(args, utf8Length(call.arguments), limits, toolCallId);
  if (oversized !== null) return refused(oversized);
  // Whether the arguments fit is the tool’s own word, which a replay does not ask.
  if (recorded?.outcome === 'validation' && recorded.reason === null) return { kind: 'admitted' };
  const tool = granting.byId(call.tool);
  if (tool === undefined || !isApprovalNeeded(tool, [granting, inForce])) return { kind: 'admitted' };
  return { kind: 'approval', approvalId: approvalIdOf(callKeyOf(record, call, index)) };
}

/** What the recorded decision on an approval means. */
export function approved({ approvalId, decision, reason }: ApprovalOutcome, toolCallId: string): Admission {
  if (decision !== 'approve' && decision !== 'refuse' && decision !== 'expire')
    throw new NotReplayable(`The outcome of the approval ${approvalId} is "${decision}", which is none.`);
  const verdict = approvalVerdict({ decision, reason });
  return verdict.ok ? { kind: 'admitted' } : refused(failure(toolCallId, verdict));
}

function permission(called: Called, judging: Judging, toolCallId: string): Promise<Verdict> {
  return authorized('tool.execute', called, judging, toolCallId);
}

/** Of a tool that has a connection; whether a tool needs one that is not configured is its own word, which a replay does not ask. */
async function connection(called: Called, judging: Judging, toolCallId: string): Promise<Verdict> {
  const { record, call } = called;
  const tool = judging.granting.byId(call.tool);
  if (tool?.connection === undefined) return { ok: true };
  const needing = { id: tool.id, requiresConnection: true };
  const verdict = judgeConnection(needing, { connectionId: tool.connection }, record, [
    judging.granting,
    judging.inForce,
  ]);
  return verdict.ok ? authorized('connection.use', called, judging, toolCallId) : verdict;
}

async function authorized(
  action: AuthorizationAction,
  { record, call }: Called,
  judging: Judging,
  toolCallId: string,
): Promise<Verdict> {
  const tool = judging.granting.byId(call.tool);
  const spec = tool?.spec;
  if (tool === undefined || spec === null || spec === undefined) return { ok: true };
  const configurations = new Set([judging.granting.configuration, judging.inForce.configuration]);
  const authorizers = [...configurations]
    .filter(({ authorization }) => authorization !== null)
    .map((configuration) => judging.authorizerOf(configuration));
  if (authorizers.length === 0) return { ok: true };
  const { requestId: runId, sessionId } = record;
  const connectionId = tool.connection === undefined ? {} : { connectionId: tool.connection };
  const context = { runId, sessionId, toolCallId, ...callerOf(record), ...connectionId };
  return authorize(authorizers, action, { id: tool.id, effect: spec.effect }, context, (error) => {
    throw new NotReplayable(`Whether it was permitted cannot be decided: ${(error as Error).message}`);
  });
}

/** Reasons with which a call can end that no record but its own step holds. */
function isFact({ reason, outcome }: Step): boolean {
  if (outcome === 'unavailable')
    return reason === 'not_bound' || reason === 'held_back' || reason === 'authorizer_unreachable';
  return false;
}

/** The clock is looked at once more when there is room for the call, so a late end says that it was late. */
function isLate({ startedAt, endedAt, reason }: Step, { run }: ToolCall): boolean {
  return startedAt >= run.deadline || (reason === 'deadline' && endedAt >= run.deadline);
}

function refused(result: ToolExecResult): Admission {
  if (result.ok) throw new Error('A refusal is no success.');
  return { kind: 'refused', result };
}

function failure(toolCallId: string, verdict: Verdict & { ok: false }): ToolExecResult {
  const { code: errorCode, reason, message: safeMessage } = verdict;
  return { toolCallId, ok: false, errorCode, ...(reason === undefined ? {} : { reason }), safeMessage };
}
