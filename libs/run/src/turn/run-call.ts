import {
  allowed,
  authorize,
  budgetOf,
  eligible,
  redactArguments,
  requestOfTool,
  runTool,
  standingFact,
  takeBack,
  utf8Length,
  allApprovers,
  keyOfRule,
  withSchemaDefaults,
} from '@sluice/core';
import type {
  ApprovalAsk,
  AuthorizationAction,
  BegunBefore,
  BoundTool,
  CallEnd,
  ConfiguredTool,
  CountedCall,
  JsonValue,
  Evaluator,
  Judges,
  Step,
  ToolBudget,
  ToolExecResult,
  ToolInvocation,
  ToolInvocationContext,
  ToolLimits,
  ToolPipeline,
  ToolSource,
  Verdict,
} from '@sluice/core';
import { agentRunIdOf, handedBack, mayAfford, mayHandOver, questionOf } from '../agent-runs.js';
import { boundTo } from '../approvals/asks.js';
import { ruleFactsOf } from '../conditions.js';
import { approvalIdAgain, approvalIdOf, approvalVerdict, isOutdated, questionIdOf } from '../approvals/request.js';
import { editedCall } from '../approvals/edit.js';
import type { Edit } from '../approvals/edit.js';
import type { Asking, AcceptedDecision } from '../approvals/request.js';
import { callerOf, callIdOf, callKeyOf, invalidJson, parseArguments, timeWasUp, wasCancelled } from '../calls.js';
import { withinBounds } from './bounds.js';
import type { CallInTurn, CallWorld, ParkedCall } from './call-in-turn.js';
import { factsAt } from './call-facts.js';
import { lookedUp } from './lookups.js';
import { countedCall, pastCallerIn, pastFor, reservationFor } from './past-of-call.js';
import { judgeConnection } from '../connections.js';
import { firstUse } from '../documentation.js';
import { asksOf, inPlan, plannedMs, planVerdict } from '../strategy/admit-planned.js';

/** How a call ended, and what an approver changed its arguments to, if one did. */
export type EndOfCall = CallEnd<ParkedCall> & { readonly edited: Step['edited'] };

/** What the stages wait for; `edit`: that they begin again, with the arguments that an approver gave the call. */
type Waiting = ParkedCall | EditedByApprover;

/** What an approver gave a call, and what had asked for the approval. */
interface EditedByApprover {
  readonly kind: 'edit';
  readonly edit: Edit;
  readonly asks: readonly ApprovalAsk[];
}

/**
 * Runs a call of a turn up to its result, or to what it waits for. Where its approver changed its arguments, all
 * stages go by these, under the key of the call as the model wrote it: of the two one alone can take effect.
 */
export async function runCall(of: CallInTurn, world: CallWorld): Promise<EndOfCall> {
  const { record, call, index } = of;
  const toolCallId = callIdOf(record, call, index);
  const args = parseArguments(call.arguments);
  if (args === undefined)
    return unedited({ kind: 'done', result: invalidJson(toolCallId, call.arguments), begunAtMs: null });
  const toolMs = toolMsOf(of);
  const timeLeft = world.timeLeft();
  const notBegun = timeLeft <= 0 ? timeWasUp : (await world.isCancelled()) ? wasCancelled : null;
  if (notBegun !== null) {
    const before = await world.begun(invocationOf(of, args, toolMs, world.signal));
    if (before === null) return unedited({ kind: 'done', result: notBegun(toolCallId), begunAtMs: null });
    return begunWith(of, args, before, world);
  }
  const invocation = invocationOf(of, args, Math.max(1, Math.min(toolMs, timeLeft)), world.signal);
  const found: Record<string, string> = {};
  Object.assign(found, await pastFor(of, world));
  const source = await world.source();
  const end = await runTool(invocation, pipelineFor(of, source, world, found));
  if (end.kind === 'done')
    return end.begunAtMs === null
      ? unedited(withFacts(end, found))
      : begunWith(of, args, { result: end.result, startedAtMs: end.begunAtMs }, world);
  const { parked } = end;
  if (parked.kind !== 'edit') return unedited({ kind: 'parked', parked });
  const { args: given, bytes, shown } = editedCall(parked.edit, args, of.judges.granting.byId(call.tool));
  const again = { ...invocation, args: given, argumentBytes: bytes };
  const edited = await runTool(again, pipelineFor(of, source, world, found, parked));
  if (edited.kind === 'done') return { ...withFacts(edited, found), edited: shown };
  if (edited.parked.kind === 'edit') throw new Error('A call is edited once.');
  return { kind: 'parked', parked: edited.parked, edited: shown };
}

/** With what was found out to decide about it, in this attempt: a call that began before was judged then. */
function withFacts<T>(end: CallEnd<T>, found: Readonly<Record<string, string>>): CallEnd<T> {
  const isOfThis = end.kind === 'done' && end.begunAtMs === null && Object.keys(found).length > 0;
  return isOfThis ? { ...end, result: { ...end.result, facts: found } } : end;
}

function unedited(end: CallEnd<ParkedCall>): EndOfCall {
  return { ...end, edited: null };
}

/** The end of a call that an earlier attempt began, which may have been with other arguments. */
async function begunWith(
  of: CallInTurn,
  args: JsonValue,
  { result, startedAtMs: begunAtMs }: BegunBefore,
  world: CallWorld,
): Promise<EndOfCall> {
  return { kind: 'done', result, begunAtMs, edited: await editOf(of, args, world) };
}

/** What the approver of a call that needed an approval changed its arguments to; null if nothing. */
export async function editOf(
  of: CallInTurn,
  args: JsonValue,
  world: Pick<CallWorld, 'decisionOn'>,
): Promise<Step['edited']> {
  const { record, name, call, index, judges } = of;
  const mayBeEdited = [judges.granting, judges.inForce].some(
    ({ configuration }) => allApprovers(configuration.policy).length > 0,
  );
  if (!mayBeEdited) return null;
  const effect = judges.granting.byId(call.tool)?.spec?.effect ?? 'external_side_effect';
  const { bound } = askOf(of, { id: call.tool, effect }, args);
  const { taken } = await decisionFor(callKeyOf(name, record, call, index), bound, world);
  if (taken?.edit === undefined) return null;
  return editedCall(taken.edit, args, judges.granting.byId(call.tool)).shown;
}

/** The result of a call that ran as a sub-agent: its run’s answer goes through what any tool’s output does. */
export async function resumeCall(
  of: CallInTurn,
  end: Parameters<typeof handedBack>[0],
  world: CallWorld,
): Promise<{ readonly result: ToolExecResult; readonly edited: Step['edited'] }> {
  const { call, judges } = of;
  const pipeline = pipelineFor(of, await world.source(), world);
  const agent = judges.granting.byId(call.tool)?.agent;
  const args = parseArguments(call.arguments) ?? null;
  const invocation = invocationOf(of, args, 0, world.signal);
  const result = takeBack(invocation, handedBack(end, agent, pipeline.limits.resultBytes), pipeline);
  return { result, edited: await editOf(of, args, world) };
}

/** What an earlier attempt at a call came to that is not made now; null if none began. */
export async function begunCall(
  of: CallInTurn,
  world: CallWorld,
): Promise<(BegunBefore & { readonly edited: Step['edited'] }) | null> {
  const args = parseArguments(of.call.arguments) ?? null;
  const before = await world.begun(invocationOf(of, args, toolMsOf(of), world.signal));
  return before === null ? null : { ...before, edited: await editOf(of, args, world) };
}

/**
 * The stages of a call. `found` takes what is found out beside the record to decide about it; `edit` is what the
 * approver of the call gave it, once that is known.
 */
function pipelineFor(
  of: CallInTurn,
  source: ToolSource,
  world: CallWorld,
  found: Record<string, string> = {},
  edit: EditedByApprover | null = null,
): ToolPipeline<Waiting> {
  const { record, call, index, judges } = of;
  const first = firstUse(call.tool, of, judges.granting);
  const facts = factsAt(of, first, found);
  const both = [judges.granting, judges.inForce] as const;
  // What the call is counted by, once its arguments are known.
  let counted: CountedCall | null = null;
  // What was begun of it is found by the stages that go by the arguments of its approver.
  let beginsAgain = false;
  const budget = budgetAt(call.tool, judges);
  // A tool runs with the defaults of its schema, so its caller is asked about with them.
  const whole = (tool: BoundTool, args: JsonValue) => withSchemaDefaults(tool.spec.inputSchema, args);
  const permitted = (
    action: AuthorizationAction,
    tool: BoundTool,
    context: ToolInvocationContext,
    args: JsonValue,
    written?: JsonValue,
  ) =>
    authorize(
      ...([world.authorizers, action, tool, context] as const),
      (error) => world.onAuthorizerFault(tool, context.runId, error),
      {
        arguments: () => whole(tool, args),
        claims: facts.rules.claims,
        facts: { ...facts.rules.facts, ...found },
        ...(written === undefined ? {} : { before: () => whole(tool, written) }),
      },
    );
  return {
    ...world,
    source,
    eligible: (toolId) => {
      const verdict = eligible(toolId, facts, judges);
      return verdict.ok ? inPlan(of, judges.granting) : verdict;
    },
    allowed: (toolId) => allowed(toolId, facts, judges),
    authorize: (tool, context, args) => permitted('tool.execute', tool, context, args),
    connection: async (tool, context, args) => {
      const verdict = judgeConnection(tool, context, record, both);
      return verdict.ok && tool.requiresConnection ? permitted('connection.use', tool, context, args) : verdict;
    },
    authorizeValidated: async (tool, { context, args: written }, args) => {
      if (written === args) return { ok: true };
      const verdict = await permitted('tool.execute', tool, context, args, written);
      return verdict.ok && tool.requiresConnection
        ? permitted('connection.use', tool, context, args, written)
        : verdict;
    },
    bounds: async (tool, _invocation, args) => {
      const judged = { toolId: tool.id, args };
      Object.assign(found, await lookedUp(of, judged, facts, both, world));
      const bounded = await withinBounds(judged, facts, both, found);
      if (!bounded.ok) return bounded;
      const reservation = reservationFor(
        { toolId: tool.id, args, caller: pastCallerIn(of), state: facts.state },
        facts,
        both,
      );
      if (reservation !== null && 'ok' in reservation) return reservation;
      counted = reservation === null ? null : countedCall(reservation, of, first, found, world);
      return { ok: true };
    },
    approval: async (tool, invocation, args) => {
      // Before anybody is asked: a plan that cannot be walked needs no approval.
      const walked = planVerdict(record, judges.granting.byId(tool.id), call.arguments, of.at, both);
      if (!walked.ok) return walked;
      const ask = askOf(of, tool, args);
      if (ask.asks.length === 0) return { ok: true };
      // Its approver has seen what asked for the approval of the call as it was.
      if (edit !== null) return asksNoMore(ask.asks, edit.asks);
      const { approvalId, taken } = await decisionFor(invocation.callKey, ask.bound, world);
      if (taken?.decision === 'approve' && taken.edit !== undefined) {
        beginsAgain = true;
        return { parked: { kind: 'edit', edit: taken.edit, asks: ask.asks } };
      }
      if (taken !== null) return approvalVerdict(taken);
      const standing = await world.standing(tool, invocation, args, { rules: facts.rules, asks: ask.asks });
      // What was sent of it was approved as something else.
      if (standing === null && world.round > 1) return approvedOtherwise;
      if (standing === null) return { parked: asked(approvalId, tool, invocation, args, ask) };
      found[standingFact] = standing;
      return { ok: true };
    },
    // A call that goes on was counted when it began.
    rate: async (tool, invocation) => {
      if (world.round > 1) return { ok: true };
      const rated = await world.rate(tool, invocation, budget.callsPerMinute);
      return rated.ok && counted !== null ? world.foresee(counted) : rated;
    },
    handOver: async (tool, invocation) => {
      if (judges.granting.byId(tool.id)?.agent === undefined) return null;
      const verdict = mayHandOver(tool.id, record, both);
      if (!verdict.ok) return verdict;
      const affordable = mayAfford(tool.id, questionOf(invocation.args), record, both);
      if (!affordable.ok) return affordable;
      const agentRunId = agentRunIdOf(record, call, index);
      if (await world.takeAgentRun(agentRunId, invocation.callKey)) {
        const begun: Verdict = counted === null ? { ok: true } : await world.beginAgent(invocation, counted);
        if (!begun.ok) return begun;
        return { parked: { kind: 'agent', handing: { agentRunId, question: questionOf(invocation.args) } } };
      }
      const message = `The agent ${tool.id} cannot begin: its request_id was taken by somebody else. Go on without it.`;
      return { ok: false, code: 'execution', reason: 'agent_failed', message };
    },
    begun: (invocation) => (beginsAgain ? Promise.resolve(null) : world.begun(invocation)),
    onParked: (invocation, parked) => {
      if (parked.kind !== 'edit') world.onParked(invocation, parked);
    },
    once: (tool, invocation, effect, ask, connect) => world.once(tool, invocation, effect, ask, connect, counted),
    answer: (tool, invocation) => {
      const { callKey } = invocation;
      const server = judges.granting.byId(tool.id)?.mcp?.server ?? '';
      const question = { server, round: world.round, askedAt: world.askedAt() };
      // No approver is asked, so the arguments are for no one to see.
      const ask = { asks: [], state: of.turn.state, bound: '' };
      return asked(questionIdOf(callKey, world.round), tool, invocation, {}, ask, question);
    },
    limits: { ...limitsOf(judges, budget), contentBytes: world.contentBytes },
    ...(first === null ? {} : { page: first.page }),
  };
}

/** What asks for an approval of the call with these arguments, and a digest of what it would be of. */
function askOf(
  { record, call, turn: { state, did }, judges: { granting, inForce }, at }: CallInTurn,
  tool: Pick<BoundTool, 'id' | 'effect'>,
  args: JsonValue,
): Pick<Asking, 'asks' | 'state' | 'bound'> {
  const facts = { ...ruleFactsOf(record, granting, at), ...did };
  const asks = asksOf(record, tool, args, { facts, state }, [granting, inForce]);
  const bound = boundTo({ record, written: call.arguments, asks, state, tool: inForce.byId(tool.id) });
  return { asks, state, bound };
}

/**
 * The decision on the call as it is now, null while there is none, and the approval that it is one of: where the call
 * became another one in something since it was approved, it is asked about again.
 */
async function decisionFor(
  callKey: string,
  bound: string,
  world: Pick<CallWorld, 'decisionOn'>,
): Promise<{ readonly approvalId: string; readonly taken: AcceptedDecision | null }> {
  const first = approvalIdOf(callKey);
  const taken = await world.decisionOn(first);
  if (taken === null || !isOutdated(taken, bound)) return { approvalId: first, taken };
  const again = approvalIdAgain(callKey, bound);
  return { approvalId: again, taken: await world.decisionOn(again) };
}

/** Of a call that waited for its caller, and became another one in something that its approval is of. */
const approvedOtherwise = {
  ok: false,
  code: 'policy_denied',
  reason: 'approval_refused',
  message: 'The call needs another approval now than when it began, so it does not go on.',
} as const;

/** Refuses a call that needs other approvals with the arguments that its approver gave it. */
function asksNoMore(asks: readonly ApprovalAsk[], before: readonly ApprovalAsk[]): Verdict {
  const isNew = (ask: ApprovalAsk): boolean =>
    !before.some((one) => keyOfRule(one) === keyOfRule(ask) && one.quorum >= ask.quorum);
  const [more] = asks.filter(isNew);
  if (more === undefined) return { ok: true };
  const message = `Its approver changed the arguments of this call, and with these it needs another approval, so it was not made. ${more.message}`;
  return { ok: false, code: 'policy_denied', reason: 'approval_refused', message };
}

function asked(
  approvalId: string,
  tool: BoundTool,
  { context }: ToolInvocation,
  args: JsonValue,
  ask: Pick<Asking, 'asks' | 'state' | 'bound'>,
  question: Asking['question'] = null,
): ParkedCall & { kind: 'approval' } {
  const { actorId: requestedBy, subjectId: onBehalfOf = null, tenantId, toolCallId } = context;
  const shown = JSON.stringify(redactArguments(args, tool.spec.inputSchema));
  const { effect } = tool;
  return {
    kind: 'approval',
    asking: { approvalId, toolCallId, effect, arguments: shown, requestedBy, onBehalfOf, tenantId, question, ...ask },
  };
}

/** A call of a turn as the pipeline takes it. */
export function invocationOf(
  { record, name, call, index, judges }: CallInTurn,
  args: JsonValue,
  timeoutMs: number,
  signal: AbortSignal,
): ToolInvocation {
  const connectionId = judges.granting.byId(call.tool)?.connection;
  return {
    toolId: call.tool,
    args,
    argumentBytes: utf8Length(call.arguments),
    context: {
      runId: record.requestId,
      sessionId: record.sessionId,
      toolCallId: callIdOf(record, call, index),
      ...callerOf(record),
      ...requestOfTool(record.request),
      ...(connectionId === undefined ? {} : { connectionId }),
    },
    callKey: callKeyOf(name, record, call, index),
    timeoutMs,
    signal,
  };
}

function budgetAt(toolId: string, { granting, inForce }: Judges): ToolBudget {
  return budgetOf(toolId, granting.configuration.policy, inForce.configuration.policy);
}

/** Bytes that a result of the tool may have in a record. */
export function resultBytesOf(toolId: string, granting: Evaluator, inForce: Evaluator): number {
  const judges = { granting, inForce };
  return limitsOf(judges, budgetAt(toolId, judges)).resultBytes;
}

function limitsOf({ granting }: Judges, budget: ToolBudget): Omit<ToolLimits, 'contentBytes'> {
  const { argumentBytes, resultBytes } = granting.configuration.limits;
  return { argumentBytes, resultBytes: Math.min(resultBytes, budget.resultBytes ?? Infinity) };
}

/** How long the tool may run, milliseconds, whatever is left of the run’s time. */
function toolMsOf(of: CallInTurn): number {
  const { judges } = of;
  const { granting } = judges;
  const tool: ConfiguredTool | undefined = granting.byId(of.call.tool);
  const { timeoutMs } = tool === undefined ? { timeoutMs: null } : budgetAt(tool.id, judges);
  const own = Math.min(tool?.timeoutMs ?? granting.configuration.limits.toolMs, timeoutMs ?? Infinity);
  return Math.min(own, plannedMs(of, granting));
}
