import type { AssistantStreamChunk } from 'assistant-stream';
import type {
  ApprovalRequested,
  AgentProgress,
  AgentRequest,
  AgentResponse,
  AgentStep,
  AgentStepResult,
  Run,
  StrategyDecision,
  ToolCall,
  Toolset,
} from '@sluice/contracts';
import { noticeOf, recordToJson } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { isClientTool, refusalOfHidden } from '@sluice/core';
import { callIdOf, stepAtEnd } from '@sluice/run';
import { ofRecords } from '../record-view.js';
import type { RecordView } from '../record-view.js';
import { CallParts } from './call-parts.js';
import { TextPart } from './text-part.js';

type Json = Extract<AssistantStreamChunk, { type: 'data' }>['data'][number];

type FinishReason = Extract<AssistantStreamChunk, { type: 'step-finish' }>['finishReason'];

const toMessage: readonly number[] = [];

const finishReasons: Readonly<Record<string, FinishReason>> = { length: 'length', filtered: 'content-filter' };

function finishOf({ error, incomplete }: Pick<AgentResponse, 'error' | 'incomplete'>): FinishReason {
  if (error !== null) return 'error';
  return incomplete === null ? 'stop' : (finishReasons[incomplete.reason] ?? 'other');
}

type UsedTokens = Pick<Run, 'inputTokens' | 'outputTokens'>;

/** What a call is refused with whose tool was not offered. */
const notOffered: ReadonlySet<string | null> = new Set(Object.values(refusalOfHidden));

/** How far a call has come, where its tool’s server says that in numbers. */
function numbersOf(record: AgentProgress): { readonly progress?: number; readonly total?: number } {
  const notice = noticeOf(record);
  if (notice?.kind !== 'progress') return {};
  const { progress, total } = notice;
  return total === null ? { progress } : { progress, total };
}

/**
 * Turns a run’s records into the chunks of one assistant message: a step for each iteration, a tool-call part for
 * each call, closed behind its result, the text as it comes. The chunks leave in the order in which they are made, so
 * a result always comes before the end of the message.
 *
 * Records of several topics may come in another order than they were made in, or twice. Each holds the steps before
 * it: those that did not come yet are sent with it, and not again when they come.
 */
export class RunParts {
  private parts = 0;
  private iteration = 0;
  /** The last iteration whose Toolset came. */
  private offeredIn = 0;
  /** The iterations whose calls were sent: pieces of their text come too late. */
  private readonly called = new Set<number>();
  /** What waits for an answer of its caller, and for no approval. */
  private readonly questions = new Set<string>();
  /** The tools of calls that wait for an approval, by its id. */
  private readonly askedTools = new Map<string, string>();
  private stepOpen = false;
  /** What the run was asked; null while that is unknown. A run without a model makes its one call itself. */
  private request: AgentRequest | null = null;
  /** Steps that the request brought along, which are none of this run; null while their number is unknown. */
  private brought: number | null = null;
  /** The ids of tools by the names that steps have for them. */
  private readonly toolIds = new Map<string, string>();
  /** Tokens of the run by the end of the last step. */
  private tokens = { inputTokens: 0, outputTokens: 0 };
  /** The same by the last turn that calls tools. */
  private calledWith: UsedTokens = { inputTokens: 0, outputTokens: 0 };
  private readonly text = new TextPart(() => this.parts++);
  private readonly callParts: CallParts;

  constructor(private readonly view: RecordView = ofRecords) {
    this.callParts = new CallParts(() => this.parts++, view.shown);
  }

  /** Of an agent’s run, which begins without steps. */
  static ofAgent(view: RecordView): RunParts {
    const parts = new RunParts(view);
    parts.brought = 0;
    return parts;
  }

  /** The first of the stream: what it takes to find the run again. */
  begin(run: {
    readonly request_id: string;
    readonly session_id: string;
    readonly since: number;
    readonly token?: string;
  }): readonly AssistantStreamChunk[] {
    return this.data('run', run);
  }

  of(message: Incoming): readonly AssistantStreamChunk[] {
    switch (message.topic) {
      case 'agent.requests':
      case 'agent.calls':
        this.asks(message.record);
        return [];
      case 'agent.toolsets':
        return this.offered(message.record);
      case 'agent.progress':
        return this.progress(message.record);
      case 'agent.tool-calls':
        return this.calls(message.record);
      case 'agent.approvals':
        return this.approval(message);
      case 'agent.steps':
        return this.results(message.record);
      case 'agent.responses':
        return this.end(message.record);
      default:
        return [];
    }
  }

  /** A call of the request is shown once it has begun. Of several requests under the run’s id the first has it. */
  asks(request: AgentRequest): void {
    if (this.request !== null) return;
    this.request = request;
    this.learn(1, request.history);
  }

  /** Nothing more comes though the run goes on, or it may not be shown: the message ends with the reason. */
  cut(code: string, error: string): readonly AssistantStreamChunk[] {
    return [
      ...this.text.close(),
      { type: 'error', path: toMessage, error, code },
      { type: 'message-finish', path: toMessage, finishReason: 'error', usage: { inputTokens: 0, outputTokens: 0 } },
    ];
  }

  private offered(toolset: Toolset): readonly AssistantStreamChunk[] {
    const { iteration, state, requestId, request, run } = toolset;
    this.learn(iteration, request.history);
    if (iteration < this.iteration || iteration <= this.offeredIn) return [];
    this.offeredIn = iteration;
    const tools = this.view.offered(toolset);
    for (const { key, id } of tools) this.toolIds.set(key, id);
    return [
      ...this._begin(iteration, requestId, request.history, run),
      ...this.data('iteration', { iteration, state, tools: tools.map(({ id }) => id) }),
    ];
  }

  private learn(iteration: number, before: readonly AgentStep[]): void {
    if (iteration === 1) this.brought = before.length;
  }

  /** An iteration begins when the steps before it are over. */
  private _begin(
    iteration: number,
    requestId: string,
    history: readonly AgentStep[],
    run: UsedTokens,
  ): readonly AssistantStreamChunk[] {
    if (iteration <= this.iteration) return [];
    return [...this.missed(requestId, history), ...this.startStep(iteration, requestId, run)];
  }

  private startStep(iteration: number, requestId: string, run: UsedTokens): readonly AssistantStreamChunk[] {
    if (iteration <= this.iteration) return [];
    const finished = this.finishStep('tool-calls', run, true);
    this.iteration = iteration;
    this.stepOpen = true;
    const messageId = `${requestId}/${iteration}`;
    return [...finished, ...this.text.close(), { type: 'step-start', path: toMessage, messageId }];
  }

  private progress(record: AgentProgress): readonly AssistantStreamChunk[] {
    const { kind, iteration, text, toolCallId } = record;
    if (toolCallId !== null) return this.callProgress(record, toolCallId);
    if (iteration !== this.iteration || this.called.has(iteration)) return [];
    if (kind === 'text') return this.text.piece(record);
    if (kind === 'model_retry')
      return this.data(kind, { iteration, attempt: record.sequence, reason: text, retry_at: record.retryAt });
    return kind === 'thinking' ? this.text.add('reasoning', text) : [];
  }

  /** A call begins, reports, or has a result: its record follows when the whole turn is over. */
  private callProgress(record: AgentProgress, callId: string): readonly AssistantStreamChunk[] {
    const { kind, iteration, text } = record;
    const opened = kind === 'tool_call_start' ? this.openOwn(record, callId) : [];
    const toolCallId = this.callParts.openId(iteration, callId);
    if (kind === 'tool_call_start')
      return toolCallId === null ? opened : [...opened, ...this.data(kind, { toolCallId })];
    if (kind === 'tool_progress')
      return toolCallId === null ? [] : this.data(kind, { toolCallId, text, ...numbersOf(record) });
    if (record.notice !== null) return [];
    return this.callParts.preliminary(iteration, callId, text);
  }

  /** The call that the request makes itself: no record of it comes before its step. */
  private openOwn({ iteration, requestId, tool }: AgentProgress, id: string): readonly AssistantStreamChunk[] {
    const { call = null, history = [] } = this.request ?? {};
    if (call === null || iteration !== 1 || this.callParts.has(1, 0)) return [];
    this.called.add(1);
    const begun = this._begin(1, requestId, history, { inputTokens: 0, outputTokens: 0 });
    const made = { id, tool: this.view.idOf(tool ?? call.tool), args: call.arguments };
    return [...begun, ...this.callParts.open({ iteration: 1, index: 0 }, made)];
  }

  /** Of a call without a model there is no Toolset: its own tool is named, where it was offered. */
  private decidedFor(iteration: number, { initialState: state }: Run, tool?: string): readonly AssistantStreamChunk[] {
    if (iteration !== 1 || this.offeredIn >= 1) return [];
    this.offeredIn = 1;
    return this.data('iteration', { iteration, state, tools: tool === undefined ? [] : [this.view.idOf(tool)] });
  }

  private calls(record: ToolCall): readonly AssistantStreamChunk[] {
    const { iteration, requestId, request, run, thought, calls } = record;
    this.learn(iteration, request.history);
    if (this.called.has(iteration)) return [];
    const begun = [
      ...this._begin(iteration, requestId, request.history, run),
      ...(request.call === null ? [] : this.decidedFor(iteration, run, calls[0]?.tool)),
    ];
    this.called.add(iteration);
    this.calledWith = run;
    // In the order in which they are sent, since each part takes the next number.
    const said = [...this.text.complete(thought), ...this.text.close()];
    const decided = this.decided(record.decision, iteration);
    const parts = calls.flatMap((call, index) =>
      this.callParts.open(
        { iteration, index },
        { id: callIdOf(record, call, index), tool: call.tool, args: call.arguments },
      ),
    );
    return [...begun, ...said, ...decided, ...parts];
  }

  private decided(decision: StrategyDecision | null, iteration: number): readonly AssistantStreamChunk[] {
    if (decision === null) return [];
    const said = recordToJson('StrategyDecision', decision) as { [name: string]: Json };
    return this.data('decision', { iteration, ...said });
  }

  /** With the place that a decision must name, in the form that approvers write. */
  private approval({ record, partition, offset }: Incoming<'agent.approvals'>): readonly AssistantStreamChunk[] {
    const { requested, outcome, escalated } = record;
    if (requested !== null) {
      if (requested.question !== null) {
        this.questions.add(requested.approvalId);
        return isClientTool(requested.tool) ? this.clientCalls(requested) : [];
      }
      this.askedTools.set(requested.approvalId, requested.tool);
      const {
        steps: _,
        question: __,
        ...asked
      } = recordToJson('ApprovalRequested', requested) as { [name: string]: Json };
      const place = { requested_partition: partition, requested_offset: offset };
      // Who may decide is for approvers to know.
      const rules = requested.rules.map((rule) =>
        recordToJson('AskingRule', { ...rule, approvers: [], escalateTo: [] }),
      );
      return this.data('approval_requested', { ...asked, ...place, rules: rules as Json });
    }
    if (escalated !== null) {
      const { to: _, ...said } = recordToJson('ApprovalEscalated', escalated) as { [name: string]: Json };
      return this.data('approval_escalated', said);
    }
    // What its caller answered, or did not, is no decision on an approval.
    if (outcome === null || this.questions.has(outcome.approvalId)) return [];
    // An approver may write a secret, which its tool’s schema hides as that of the call.
    const { approvalId, editedArguments: edited } = outcome;
    const tool = this.askedTools.get(approvalId);
    const editedArguments = edited === null || tool === undefined ? null : this.view.shown(tool, edited);
    return this.data('approval_outcome', recordToJson('ApprovalOutcome', { ...outcome, editedArguments }) as Json);
  }

  /** Calls that the client of the run is to make, with the tokens that the run has used up to there. */
  private clientCalls({ approvalId, iteration }: ApprovalRequested): readonly AssistantStreamChunk[] {
    const { inputTokens, outputTokens } = this.calledWith;
    return this.data('client_calls', {
      ...{ question: approvalId, iteration, input_tokens: inputTokens, output_tokens: outputTokens },
    });
  }

  /** The step of the run’s one call, where the end was read first that was written with its record. */
  private callAtEnd({ requestId, run, history }: AgentResponse): readonly AssistantStreamChunk[] {
    const { call = null, history: before = [] } = this.request ?? {};
    const step = stepAtEnd({ history }, before.length);
    if (call === null || step === undefined || run === null || step.iteration < this.iteration) return [];
    const { iteration, action, reason } = step;
    return [
      ...this._begin(iteration, requestId, before, run),
      ...this.decidedFor(iteration, run, notOffered.has(reason) ? undefined : action),
      ...this.closed(iteration, [step]),
      ...this.finishStep('tool-calls', run, true),
    ];
  }

  private results({ iteration, steps, next, run, requestId, call }: AgentStepResult): readonly AssistantStreamChunk[] {
    // A turn that was re-driven goes back to the filter without steps, and is decided again.
    if (steps.length === 0) return [];
    const before = next.history.slice(0, next.history.length - steps.length);
    this.learn(iteration, before);
    if (iteration < this.iteration) return this.closed(iteration, steps);
    const begun = [
      ...this._begin(iteration, requestId, before, run),
      ...(call === null
        ? []
        : this.decidedFor(iteration, run, call.hidden.length === 0 ? steps[0]?.action : undefined)),
    ];
    return [...begun, ...this.closed(iteration, steps), ...this.finishStep('tool-calls', run, true)];
  }

  private closed(iteration: number, steps: readonly AgentStep[]): readonly AssistantStreamChunk[] {
    return steps.flatMap((step, index) => [
      ...this.opened(iteration, index, step),
      ...this.callParts.close(iteration, index, step),
    ]);
  }

  /** Of a step whose call did not come before it. */
  private opened(iteration: number, index: number, step: AgentStep): readonly AssistantStreamChunk[] {
    if (this.callParts.has(iteration, index)) return [];
    this.called.add(iteration);
    const { thought, toolCallId: id, action, arguments: args } = step;
    const tool = this.toolIds.get(action) ?? this.view.idOf(action);
    // What another iteration says now is none of this step’s.
    const behind = iteration < this.iteration ? this.text.close() : [];
    return [
      ...behind,
      ...(thought === '' ? [] : this.text.complete(thought)),
      ...this.text.close(),
      ...this.callParts.open({ iteration, index }, { id, tool, args }),
    ];
  }

  /** Steps of this run that were not sent yet, each in its iteration. What they used is known of all together. */
  private missed(requestId: string, history: readonly AgentStep[]): readonly AssistantStreamChunk[] {
    const own = this.brought === null ? [] : history.slice(this.brought).filter(({ iteration }) => iteration > 0);
    return own.flatMap((step) => [
      ...this.startStep(step.iteration, requestId, this.tokens),
      ...this.opened(step.iteration, step.index, step),
      ...this.callParts.close(step.iteration, step.index, step),
    ]);
  }

  private end(response: AgentResponse): readonly AssistantStreamChunk[] {
    const { requestId, answer, incomplete = null, structured = null, error } = response;
    const { run, history, model = null, decision, iterations } = response;
    const usage = { inputTokens: run?.inputTokens ?? 0, outputTokens: run?.outputTokens ?? 0 };
    const finishReason = finishOf({ error, incomplete });
    return [
      ...this.callAtEnd(response),
      ...this.missed(requestId, history),
      ...(model === null ? [] : this.startStep(iterations, requestId, this.tokens)),
      ...this.text.complete(answer ?? ''),
      ...this.text.close(),
      ...this.decided(decision, iterations),
      ...(structured === null ? [] : this.data('structured', { json: structured })),
      ...(incomplete === null ? [] : this.data('incomplete', recordToJson('IncompleteAnswer', incomplete) as Json)),
      ...this.callParts.closeAll(),
      ...(error === null ? [] : [{ type: 'error', path: toMessage, error: error.message, code: error.code } as const]),
      ...(run === null ? [] : this.finishStep(finishReason, run, false)),
      { type: 'message-finish', path: toMessage, finishReason, usage },
    ];
  }

  private finishStep(
    finishReason: FinishReason,
    { inputTokens, outputTokens }: UsedTokens,
    isContinued: boolean,
  ): readonly AssistantStreamChunk[] {
    if (!this.stepOpen) return [];
    this.stepOpen = false;
    const before = this.tokens;
    this.tokens = { inputTokens, outputTokens };
    const usage = {
      inputTokens: inputTokens - before.inputTokens,
      outputTokens: outputTokens - before.outputTokens,
    };
    return [{ type: 'step-finish', path: toMessage, finishReason, usage, isContinued }];
  }

  private data(name: string, data: Json): readonly AssistantStreamChunk[] {
    const part = this.parts++;
    return [
      ...this.text.close(),
      { type: 'part-start', path: toMessage, part: { type: 'data', name, data } },
      { type: 'part-finish', path: [part] },
    ];
  }
}
