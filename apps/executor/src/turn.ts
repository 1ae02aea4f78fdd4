import { setTimeout as sleep } from 'node:timers/promises';
import {
  allowed,
  authorize,
  budgetOf,
  effectOnce,
  eligible,
  invocationRecord,
  runTool,
  utf8Length,
  withinRate,
} from '@sluice/core';
import type {
  AuthorizationAction,
  BoundTool,
  CallFacts,
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
import { topics } from '@sluice/contracts';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import {
  afterStep,
  callerOf,
  callIdOf,
  callKeyOf,
  connectionsOf,
  hashedResult,
  historyFull,
  invalidJson,
  judgeConnection,
  parseArguments,
  stepOf,
  timeWasUp,
  turnAfter,
} from '@sluice/decisions';
import type { Asking, TurnSoFar } from '@sluice/decisions';
import { ApprovalClaims, toolSpan } from '@sluice/service';
import type { Loaded, Runtime, SpanEnd } from '@sluice/service';
import { CallConnection } from './connections/call-connection.js';
import { judgeApproval } from './approvals/asking.js';
import type { Toolbox } from './toolbox.js';

/** How long an effect's claim is remembered, in milliseconds: a week. */
const claimMemoryMs = 7 * 24 * 3_600_000;

/** One turn's calls, run one after another. */
export class Turn {
  private static handled = 0;
  /** Which handling of a record by this process it is: one that was lost with its partition, or re-driven, comes back as a first attempt. */
  private readonly handling = ++Turn.handled;
  private readonly judges: Judges;
  private readonly offered: ReadonlySet<string>;
  private soFar: TurnSoFar;
  private asking: Asking | null = null;

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
    this.offered = new Set(record.offered);
    this.soFar = turnAfter(record, done, granting.evaluator);
  }

  /** The turn behind the calls that were run so far. */
  get now(): TurnSoFar {
    return this.soFar;
  }

  /** Runs the call and returns its step; refusals are steps as well. A call that waits for an approval is none yet. */
  async step(call: RequestedCall, index: number): Promise<Step | Asking> {
    const { state } = this.soFar;
    const { clock } = this.runtime;
    const tool = this.granting.evaluator.byId(call.tool);
    const startedAtMs = clock.now();
    this.asking = null;
    const result = await this.run(call, index, state);
    if (this.asking !== null) return this.asking;
    // A clock that was set back makes no call that ends before it starts.
    const endedAtMs = Math.max(startedAtMs, clock.now());
    const finished = invocationRecord(call, result, { startedAtMs, endedAtMs });
    return this.take(call.tool, stepOf(this.record, index, state, tool, finished));
  }

  /** The step of a call that is not made, since the history is full. */
  full(index: number): Step {
    return this.take(null, historyFull(this.record, index, this.soFar.state, this.runtime.clock.now()));
  }

  private take(toolId: string | null, step: Step): Step {
    this.soFar = afterStep(this.soFar, toolId, step, this.granting.evaluator);
    return step;
  }

  private run(call: RequestedCall, index: number, state: string): Promise<ToolExecResult> {
    const toolCallId = callIdOf(this.record, call, index);
    const { sessionId, iteration } = this.record;
    const tool = this.granting.evaluator.byId(call.tool) ?? null;
    const span = () => toolSpan(tool, { sessionId, iteration, toolCallId, state });
    return this.runtime.traces.span(span, async (end) => {
      const result = await this.within(call, index, state, toolCallId);
      if (!result.ok) end(refusal(result));
      return result;
    });
  }

  private async within(call: RequestedCall, index: number, state: string, toolCallId: string): Promise<ToolExecResult> {
    const args = parseArguments(call.arguments);
    if (args === undefined) return this.sayInvalid(invalidJson(toolCallId), call.tool);
    const server = this.granting.evaluator.byId(call.tool)?.mcp?.server;
    const work = (): Promise<ToolExecResult> => this.begin(call, index, state, toolCallId, args);
    return server === undefined ? work() : this.toolbox.room.in(server, this.context.signal, work);
  }

  private async begin(
    call: RequestedCall,
    index: number,
    state: string,
    toolCallId: string,
    args: JsonValue,
  ): Promise<ToolExecResult> {
    const { clock } = this.runtime;
    const tool = this.granting.evaluator.byId(call.tool);
    const timeLeft = this.record.run.deadline - clock.now();
    if (timeLeft <= 0) return timeWasUp(toolCallId);
    const { configuration } = this.granting;
    const budget = budgetOf(call.tool, configuration.policy, this.inForce.configuration.policy);
    const toolMs = Math.min(tool?.timeoutMs ?? configuration.limits.toolMs, budget.timeoutMs ?? Infinity);
    const invocation: ToolInvocation = {
      toolId: call.tool,
      args,
      argumentBytes: utf8Length(call.arguments),
      context: {
        runId: this.record.requestId,
        sessionId: this.record.sessionId,
        toolCallId,
        ...callerOf(this.record),
        ...(tool?.connection === undefined ? {} : { connectionId: tool.connection }),
      },
      callKey: callKeyOf(this.record, call, index),
      timeoutMs: Math.max(1, Math.min(toolMs, timeLeft)),
      signal: this.context.signal,
    };
    const { offered } = this;
    const { calls, answer } = this.soFar;
    const source = await this.toolbox.source(this.granting.configuration);
    const connections = connectionsOf(this.record, this.granting.evaluator);
    const { groups, toolChoice } = this.record;
    const facts = { groups, state, offered, toolChoice, calls, completed: answer !== null, connections };
    return runTool(invocation, this.pipeline(source, facts, budget));
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
    const owner = (invocation: ToolInvocation): string =>
      `${runtime.environment.instance}/${invocation.callKey}/${this.handling}`;
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
          owner: owner(invocation),
        }),
      capabilities: (tool, invocation, signal) =>
        toolbox.capabilities(
          tool,
          invocation,
          signal,
          configuration,
          (text) =>
            this.progress('tool_progress', invocation.context.toolCallId, invocation.toolId, connection.text(text)),
          () => connection.credential(invocation.context, signal),
        ),
      hashResult: (invocation, json) => runtime.signatures.keyedHash('executor', hashedResult(invocation, json)),
      conceal: (tool, result) => connection.conceal(tool, result, this.record.requestId),
      once: (tool, invocation, effect) =>
        effectOnce(
          tool,
          invocation,
          {
            ledger: runtime.ledger,
            clock: runtime.clock,
            owner: owner(invocation),
            retentionMs: claimMemoryMs,
            sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
            onUnsettled: (callKey, error) =>
              runtime.log.error(
                { call_key: callKey, error: (error as Error).message },
                'an effect happened and its outcome could not be written to the ledger',
              ),
          },
          effect,
        ),
      onStart: (invocation, args) =>
        this.progress('tool_call_start', invocation.context.toolCallId, invocation.toolId, JSON.stringify(args)),
      onResult: (invocation, result) => this.result(invocation.toolId, result),
      after: (milliseconds, action) => {
        const timer = setTimeout(action, milliseconds);
        return () => clearTimeout(timer);
      },
      limits: { argumentBytes, resultBytes: Math.min(resultBytes, budget.resultBytes ?? Infinity) },
    };
  }

  /** The pair of events of spec/tool-use.md §8; the raw arguments are not repeated. */
  private sayInvalid(result: ToolExecResult, toolId: string): ToolExecResult {
    this.progress('tool_call_start', result.toolCallId, toolId, '');
    this.result(toolId, result);
    return result;
  }

  private result(toolId: string, result: ToolExecResult): void {
    if (this.asking !== null) {
      this.progress('tool_progress', result.toolCallId, toolId, `waits for the approval ${this.asking.approvalId}`);
      return;
    }
    const payload = result.ok
      ? { ok: true, result: result.value }
      : { ok: false, isError: true, errorCode: result.errorCode, message: result.safeMessage };
    this.progress('tool_call_result', result.toolCallId, toolId, JSON.stringify(payload));
  }

  private progress(kind: string, toolCallId: string, toolId: string, text: string): void {
    const { requestId, sessionId, iteration } = this.record;
    const tool = this.granting.evaluator.byId(toolId)?.key ?? null;
    const record = { requestId, sessionId, iteration, kind, toolCallId, tool, text, at: this.runtime.clock.now() };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
  }
}

/** For a trace: the codes, never a word of the call. A call that waits for an approval has not failed. */
function refusal({ errorCode, reason }: ToolExecResult & { ok: false }): SpanEnd {
  const attributes = reason === undefined ? {} : { 'sluice.reason': reason };
  return reason === 'approval_pending' ? { attributes } : { attributes, error: errorCode };
}
