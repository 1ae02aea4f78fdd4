import { setTimeout as sleep } from 'node:timers/promises';
import {
  allowed,
  authorize,
  begunBefore,
  budgetOf,
  effectOnce,
  eligible,
  invocationRecord,
  runTool,
  takeBack,
  withinRate,
} from '@sluice/core';
import type {
  AgentRun,
  AuthorizationAction,
  BoundTool,
  CallFacts,
  ConfiguredTool,
  EffectClaims,
  JsonValue,
  Judges,
  Step,
  ToolBudget,
  ToolExecResult,
  ToolInvocation,
  ToolInvocationContext,
  ToolPipeline,
  ToolSource,
} from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import {
  afterStep,
  callIdOf,
  connectionsOf,
  handedBack,
  hashedResult,
  hasRoom,
  invalidJson,
  judgeConnection,
  noRoomForResult,
  parseArguments,
  refusedCall,
  stepOf,
  timeWasUp,
  turnAfter,
} from '@sluice/decisions';
import type { Asking, Handing, NotMade, TurnSoFar } from '@sluice/decisions';
import { ApprovalClaims, toolSpan } from '@sluice/service';
import type { Loaded, Runtime, SpanEnd } from '@sluice/service';
import { judgeHandOver } from './agents/hand-over.js';
import type { Returned } from './agents/returned.js';
import { CallConnection } from './connections/call-connection.js';
import { judgeApproval } from './approvals/asking.js';
import { invocationOf } from './invocation.js';
import type { Toolbox } from './toolbox.js';
import { TurnProgress } from './turn-progress.js';

/** How long an effect's claim is remembered, in milliseconds: a week. */
const claimMemoryMs = 7 * 24 * 3_600_000;

/** One turn's calls, run one after another. */
export class Turn {
  private static handled = 0;
  /** Which handling of a record by this process it is: one that was lost with its partition, or re-driven, comes back as a first attempt. */
  private readonly handling = ++Turn.handled;
  private readonly progress: TurnProgress;
  private readonly judges: Judges;
  private readonly offered: ReadonlySet<string>;
  private soFar: TurnSoFar;
  private asking: Asking | null = null;
  private handing: Omit<Handing, 'startedAt'> | null = null;
  /** When an earlier attempt began the call, if it did. */
  private begunAt: number | null = null;
  /** The steps of calls that an earlier attempt had begun. */
  readonly told = new Set<Step>();

  /** `done` are the steps of its first calls, where it was parked behind them. */
  constructor(
    private readonly record: ToolCall,
    done: readonly Step[],
    private readonly context: HandlerContext,
    private readonly granting: Loaded,
    private readonly inForce: Loaded,
    private readonly toolbox: Toolbox,
    private readonly runtime: Runtime,
  ) {
    this.judges = { granting: granting.evaluator, inForce: inForce.evaluator };
    this.progress = new TurnProgress(record, context, granting, runtime);
    this.offered = new Set(record.offered);
    this.soFar = turnAfter(record, done, granting.evaluator);
  }

  /** The turn behind the calls that were run so far. */
  get now(): TurnSoFar {
    return this.soFar;
  }

  /** Runs the call and returns its step; refusals are steps as well. A call that waits for an approval or runs as an agent is none yet. */
  async step(call: RequestedCall, index: number): Promise<Step | Asking | Handing> {
    const { state } = this.soFar;
    const { clock } = this.runtime;
    const tool = this.granting.evaluator.byId(call.tool);
    const startedAtMs = clock.now();
    this.asking = null;
    this.handing = null;
    this.begunAt = null;
    const result = await this.run(call, index, state);
    if (this.asking !== null) return this.asking;
    if (this.handing !== null) return { ...(this.handing as Omit<Handing, 'startedAt'>), startedAt: startedAtMs };
    return this.finished(call, index, tool, result, this.begunAt ?? startedAtMs, null);
  }

  /** The step of a call that ran as an agent: its run’s answer goes through what any tool’s output does. */
  async takeBack(call: RequestedCall, index: number, { end, agentRun, startedAt }: Returned): Promise<Step> {
    this.begunAt = null;
    const tool = this.granting.evaluator.byId(call.tool);
    const args = parseArguments(call.arguments) ?? null;
    const invocation = this.invocation(call, index, args, 0);
    const source = await this.toolbox.source(this.granting.configuration);
    const pipeline = this.pipeline(source, this.facts(), this.budgetOf(call.tool));
    const back = handedBack(end, tool?.agent, pipeline.limits.resultBytes);
    const result = takeBack(invocation, back, pipeline);
    return this.finished(call, index, tool, result, startedAt, agentRun);
  }

  /** What a call that has no result yet waits for, in words; null for any other. */
  private waitsFor(): string | null {
    if (this.asking !== null) return `waits for the approval ${this.asking.approvalId}`;
    return this.handing === null ? null : `runs as an agent of its own: ${this.handing.agentRunId}`;
  }

  /** The step of a call that is not made, whatever its tool. One that an earlier attempt made says what it gave, if there is room for that. */
  async refuse(call: RequestedCall, index: number, why: NotMade, done: readonly Step[]): Promise<Step> {
    this.begunAt = null;
    const tool = this.granting.evaluator.byId(call.tool);
    const before = await this.begun(
      this.invocation(call, index, parseArguments(call.arguments) ?? null, this.toolMs(tool)),
    );
    const now = this.runtime.clock.now();
    const { record, soFar } = this;
    const { evaluator } = this.granting;
    if (before === null) return this.take(null, refusedCall(record, index, soFar.state, now, why, evaluator));
    const step = this.finished(call, index, tool, before, this.begunAt ?? now, null);
    if (why !== 'record_full' || hasRoom(record, [...done, step], this.soFar, evaluator)) return step;
    this.soFar = soFar;
    const times = { startedAtMs: step.startedAt, endedAtMs: step.endedAt };
    const brief = noRoomForResult(record, index, soFar.state, times, evaluator);
    this.told.add(brief);
    return this.take(call.tool, brief);
  }

  private invocation(call: RequestedCall, index: number, args: JsonValue, timeoutMs: number): ToolInvocation {
    const connection = this.granting.evaluator.byId(call.tool)?.connection;
    return invocationOf(this.record, call, index, args, connection, timeoutMs, this.context.signal);
  }

  /** How long the tool may run, milliseconds, whatever is left of the run’s time. */
  private toolMs(tool: ConfiguredTool | undefined): number {
    const { toolMs } = this.granting.configuration.limits;
    const { timeoutMs } = tool === undefined ? { timeoutMs: null } : this.budgetOf(tool.id);
    return Math.min(tool?.timeoutMs ?? toolMs, timeoutMs ?? Infinity);
  }

  private take(toolId: string | null, step: Step): Step {
    this.soFar = afterStep(this.soFar, toolId, step, this.granting.evaluator);
    return step;
  }

  private finished(
    call: RequestedCall,
    index: number,
    tool: ConfiguredTool | undefined,
    result: ToolExecResult,
    startedAtMs: number,
    agentRun: AgentRun | null,
  ): Step {
    // A clock that was set back makes no call that ends before it starts.
    const endedAtMs = Math.max(startedAtMs, this.runtime.clock.now());
    const finished = invocationRecord(call, result, { startedAtMs, endedAtMs });
    const step = stepOf(this.record, index, this.soFar.state, tool, finished, agentRun);
    if (this.begunAt !== null) this.told.add(step);
    return this.take(call.tool, step);
  }

  private run(call: RequestedCall, index: number, state: string): Promise<ToolExecResult> {
    const toolCallId = callIdOf(this.record, call, index);
    const { sessionId, iteration } = this.record;
    const tool = this.granting.evaluator.byId(call.tool) ?? null;
    const span = () => toolSpan(tool, { sessionId, iteration, toolCallId, state });
    return this.runtime.traces.span(span, async (end) => {
      const result = await this.within(call, index, toolCallId);
      if (!result.ok) end(refusal(result));
      return result;
    });
  }

  private async within(call: RequestedCall, index: number, toolCallId: string): Promise<ToolExecResult> {
    const args = parseArguments(call.arguments);
    if (args === undefined) return this.progress.invalid(invalidJson(toolCallId), call.tool);
    const server = this.granting.evaluator.byId(call.tool)?.mcp?.server;
    const work = (): Promise<ToolExecResult> => this.begin(call, index, toolCallId, args);
    return server === undefined ? work() : this.toolbox.perServer.in(server, this.context.signal, work);
  }

  private async begin(
    call: RequestedCall,
    index: number,
    toolCallId: string,
    args: JsonValue,
  ): Promise<ToolExecResult> {
    const { clock } = this.runtime;
    const tool = this.granting.evaluator.byId(call.tool);
    const timeLeft = this.record.run.deadline - clock.now();
    const toolMs = this.toolMs(tool);
    if (timeLeft <= 0) return (await this.begun(this.invocation(call, index, args, toolMs))) ?? timeWasUp(toolCallId);
    const invocation = this.invocation(call, index, args, Math.max(1, Math.min(toolMs, timeLeft)));
    const source = await this.toolbox.source(this.granting.configuration);
    return runTool(invocation, this.pipeline(source, this.facts(), this.budgetOf(call.tool)));
  }

  private budgetOf(toolId: string): ToolBudget {
    return budgetOf(toolId, this.granting.configuration.policy, this.inForce.configuration.policy);
  }

  private facts(): CallFacts {
    const { record, offered, granting } = this;
    const { groups, toolChoice } = record;
    const { state, calls, answer } = this.soFar;
    const connections = connectionsOf(record, granting.evaluator);
    const nested = record.run.parent !== null;
    return { groups, state, offered, toolChoice, calls, completed: answer !== null, connections, nested };
  }

  private owner({ callKey }: ToolInvocation): string {
    return `${this.runtime.environment.instance}/${callKey}/${this.handling}`;
  }

  private claims(invocation: ToolInvocation): EffectClaims {
    const { ledger, clock, log } = this.runtime;
    return {
      ...{ ledger, clock },
      owner: this.owner(invocation),
      retentionMs: claimMemoryMs,
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
      onUnsettled: (callKey, error) =>
        log.error(
          { call_key: callKey, error: (error as Error).message },
          'an effect happened and its outcome could not be written to the ledger',
        ),
    };
  }

  /** What an earlier attempt at the call came to, whatever refuses it now: a policy of today, its time, a server that is away. */
  private async begun(invocation: ToolInvocation): Promise<ToolExecResult | null> {
    const tool = this.granting.evaluator.byId(invocation.toolId);
    if (tool === undefined || tool.spec?.effect === 'read_only') return null;
    const before = await begunBefore(invocation, this.claims(invocation));
    if (before === null) return null;
    // Whoever began was in time, though the claim may have been written a little later.
    this.begunAt = Math.min(before.startedAtMs, this.record.run.deadline - 1);
    // So nobody has to be asked any more.
    this.asking = null;
    this.runtime.log.warn(
      { request_id: this.record.requestId, tool_call_id: invocation.context.toolCallId, tool: invocation.toolId },
      'a call would be refused now, but an earlier attempt had begun it; what came of that is told',
    );
    return before.result;
  }

  private pipeline(source: ToolSource, facts: CallFacts, budget: ToolBudget): ToolPipeline {
    const { runtime, toolbox, judges, granting, inForce } = this;
    const { configuration } = granting;
    const { argumentBytes, resultBytes } = configuration.limits;
    const authorizers = [...new Set([granting, inForce].map((loaded) => toolbox.authorizer(loaded.configuration)))];
    const permitted = (action: AuthorizationAction, tool: BoundTool, context: ToolInvocationContext) =>
      authorize(authorizers, action, tool, context, (error) =>
        runtime.log.error(
          { tool: tool.id, request_id: context.runId, error: (error as Error).message },
          'the authorizer failed, so the call was refused',
        ),
      );
    const connection = new CallConnection(granting, inForce, toolbox.connections, runtime);
    return {
      source,
      eligible: (toolId) => eligible(toolId, facts, judges),
      allowed: (toolId) => allowed(toolId, facts, judges),
      authorize: (tool, context) => permitted('tool.execute', tool, context),
      connection: async (tool, context) => {
        const verdict = judgeConnection(tool, context, this.record, [judges.granting, judges.inForce]);
        return verdict.ok && tool.requiresConnection ? permitted('connection.use', tool, context) : verdict;
      },
      approval: async (tool, invocation, args) => {
        const loaded = [granting, inForce];
        const { verdict, asking } = await judgeApproval(tool, invocation, args, loaded, new ApprovalClaims(runtime));
        this.asking = asking;
        return verdict;
      },
      rate: (tool, invocation) =>
        withinRate(tool, invocation, budget.callsPerMinute, {
          rates: runtime.rates,
          ledger: runtime.ledger,
          clock: runtime.clock,
          owner: this.owner(invocation),
        }),
      handOver: async (tool, invocation) => {
        const judged = await judgeHandOver(tool, invocation, this.record, [granting, inForce], runtime);
        this.handing = judged?.handing ?? null;
        return judged?.verdict ?? null;
      },
      capabilities: (tool, invocation, signal) =>
        toolbox.capabilities(
          tool,
          invocation,
          signal,
          configuration,
          (text) =>
            this.progress.say('tool_progress', invocation.context.toolCallId, invocation.toolId, connection.text(text)),
          () => connection.credential(invocation.context, signal),
        ),
      hashResult: (invocation, json) => runtime.signatures.keyedHash('executor', hashedResult(invocation, json)),
      conceal: (tool, result) => connection.conceal(tool, result, this.record.requestId),
      once: (tool, invocation, effect) => effectOnce(tool, invocation, this.claims(invocation), effect),
      begun: (invocation) => this.begun(invocation),
      onStart: (invocation, args) =>
        this.progress.say('tool_call_start', invocation.context.toolCallId, invocation.toolId, JSON.stringify(args)),
      onResult: (invocation, result) => this.progress.result(invocation.toolId, result, this.waitsFor()),
      after: (milliseconds, action) => {
        const timer = setTimeout(action, milliseconds);
        return () => clearTimeout(timer);
      },
      limits: { argumentBytes, resultBytes: Math.min(resultBytes, budget.resultBytes ?? Infinity) },
    };
  }
}

/** For a trace: the codes, never a word of the call. A call that waits for an approval or an agent has not failed. */
function refusal({ errorCode, reason }: ToolExecResult & { ok: false }): SpanEnd {
  const attributes = reason === undefined ? {} : { 'sluice.reason': reason };
  return reason === 'approval_pending' || reason === 'agent_pending'
    ? { attributes }
    : { attributes, error: errorCode };
}
