import { setTimeout as sleep } from 'node:timers/promises';
import { authorize, budgetOf, countCall, effectOnce, runTool, transition, utf8Length, withinRate } from '@sluice/core';
import type {
  CallCounts,
  JsonValue,
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
import { sha256, toolSpan } from '@sluice/service';
import type { Loaded, Runtime, SpanEnd } from '@sluice/service';
import { allowed, eligible } from './admission.js';
import type { CallFacts, Judges } from './admission.js';
import { judgeApproval } from './approvals/asking.js';
import type { Asking } from './approvals/asking.js';
import { ApprovalClaims } from './approvals/claims.js';
import type { Toolbox } from './toolbox.js';

/** How long an effect's claim is remembered, in milliseconds: a week. */
const claimMemoryMs = 7 * 24 * 3_600_000;
const longestName = 128;

/** One turn's calls, run one after another. */
export class Turn {
  private readonly judges: Judges;
  private readonly offered: ReadonlySet<string>;
  private calls: CallCounts;
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
    this.calls = done.reduce(
      (calls, step, index) => countCall(calls, record.calls[index]?.tool ?? '', step),
      record.run.toolCalls,
    );
  }

  /** How often each tool ran in this run, this turn included. */
  get toolCalls(): CallCounts {
    return this.calls;
  }

  /** Runs the call in the given state and returns its step; refusals are steps as well. A call that waits for an approval is none yet. */
  async step(call: RequestedCall, index: number, state: string): Promise<Step | Asking> {
    const { clock } = this.runtime;
    const tool = this.granting.evaluator.byId(call.tool);
    const startedAt = clock.now();
    this.asking = null;
    const result = await this.run(call, index, state);
    if (this.asking !== null) return this.asking;
    const step: Step = {
      thought: index === 0 ? this.record.thought : '',
      action: tool?.key ?? call.tool.slice(0, longestName),
      arguments: call.arguments,
      observation: result.ok ? observation(result.value) : result.safeMessage,
      outcome: result.ok ? 'ok' : result.errorCode,
      reason: result.ok ? null : (result.reason ?? null),
      stateBefore: state,
      state: result.ok && tool !== undefined ? transition(tool, state) : state,
      toolCallId: result.toolCallId,
      iteration: this.record.iteration,
      index,
      startedAt,
      endedAt: clock.now(),
    };
    this.calls = countCall(this.calls, call.tool, step);
    return step;
  }

  private run(call: RequestedCall, index: number, state: string): Promise<ToolExecResult> {
    const toolCallId = validId(call.toolCallId) ? call.toolCallId : `call-${this.record.iteration}-${index}`;
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
    const args = parse(call.arguments);
    if (args === undefined) return this.invalidJson(toolCallId, call.tool);
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
    if (timeLeft <= 0) {
      const safeMessage = 'The run’s time was up before this call began.';
      return { toolCallId, ok: false, errorCode: 'execution', reason: 'deadline', safeMessage };
    }
    const { configuration } = this.granting;
    const budget = budgetOf(call.tool, configuration.policy, this.inForce.configuration.policy);
    const toolMs = Math.min(tool?.timeoutMs ?? configuration.limits.toolMs, budget.timeoutMs ?? Infinity);
    const invocation: ToolInvocation = {
      toolId: call.tool,
      args,
      argumentBytes: utf8Length(call.arguments),
      context: { runId: this.record.requestId, sessionId: this.record.sessionId, toolCallId, ...caller(this.record) },
      callKey: this.callKey(call, index),
      timeoutMs: Math.max(1, Math.min(toolMs, timeLeft)),
      signal: this.context.signal,
    };
    const { offered, calls } = this;
    const source = await this.toolbox.source(this.granting.configuration);
    return runTool(invocation, this.pipeline(source, { groups: this.record.groups, state, offered, calls }, budget));
  }

  private pipeline(source: ToolSource, facts: CallFacts, budget: ToolBudget): ToolPipeline {
    const { runtime, toolbox, judges, granting, inForce } = this;
    const { configuration } = granting;
    const { argumentBytes, resultBytes } = configuration.limits;
    const authorizers = [...new Set([granting, inForce].map((loaded) => toolbox.authorizer(loaded.configuration)))];
    const owner = (invocation: ToolInvocation): string =>
      `${runtime.environment.instance}/${invocation.callKey}/${this.context.attempt}`;
    return {
      source,
      eligible: (toolId) => eligible(toolId, facts, judges),
      allowed: (toolId) => allowed(toolId, facts, judges),
      authorize: (tool, context) =>
        authorize(authorizers, 'tool.execute', tool, context, (error) =>
          runtime.log.error(
            { tool: tool.id, request_id: context.runId, error: (error as Error).message },
            'the authorizer failed, so the call was refused',
          ),
        ),
      connection: (tool) =>
        tool.requiresConnection
          ? {
              ok: false,
              code: 'policy_denied',
              reason: 'connection_missing',
              message: `The tool ${tool.id} needs a connection and none is configured.`,
            }
          : { ok: true },
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
        toolbox.capabilities(tool, invocation, signal, configuration, (text) =>
          this.progress('tool_progress', invocation.context.toolCallId, invocation.toolId, text),
        ),
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
  private invalidJson(toolCallId: string, toolId: string): ToolExecResult {
    const result: ToolExecResult = {
      toolCallId,
      ok: false,
      errorCode: 'invalid_json',
      safeMessage: 'Invalid tool arguments JSON',
    };
    this.progress('tool_call_start', toolCallId, toolId, '');
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

  private callKey(call: RequestedCall, index: number): string {
    const hash = sha256(call.arguments).slice(0, 32);
    return `effect/${this.record.requestId}/${this.record.iteration}/${index}/${call.tool.slice(0, longestName)}/${hash}`;
  }
}

/** Who acts, as the filter found it; the record’s grant has been verified. */
function caller({ run: { principal } }: ToolCall): Pick<ToolInvocationContext, 'actorId' | 'tenantId' | 'subjectId'> {
  if (principal === null) throw new Error('A verified ToolCall says who asks.');
  const { actorId, tenantId, subjectId } = principal;
  return { actorId, tenantId, ...(subjectId === null ? {} : { subjectId }) };
}

/** For a trace: the codes, never a word of the call. A call that waits for an approval has not failed. */
function refusal({ errorCode, reason }: ToolExecResult & { ok: false }): SpanEnd {
  const attributes = reason === undefined ? {} : { 'sluice.reason': reason };
  return reason === 'approval_pending' ? { attributes } : { attributes, error: errorCode };
}

function validId(id: string): boolean {
  return id.length >= 1 && id.length <= longestName;
}

/** The arguments, or undefined if they are not JSON. Empty text is what some models write for no arguments. */
function parse(text: string): JsonValue | undefined {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function observation(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
