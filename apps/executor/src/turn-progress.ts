import type { CallNotice, ToolExecResult } from '@sluice/core';
import { noticeRecord, topics } from '@sluice/contracts';
import type { AgentProgress, ToolCall } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import type { Loaded } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** Only pieces of text are numbered, and only a model is asked again. */
const noText = { attempt: '', sequence: 0, retryAt: null };
const noNotice = { notice: null };

/** Tells of a turn's calls on agent.progress as they go; best effort. */
export class TurnProgress {
  /** The start of a call of which nothing was said yet. */
  private unsaid: { readonly say: () => void; readonly timer: NodeJS.Timeout } | null = null;

  constructor(
    private readonly record: Pick<ToolCall, 'requestId' | 'sessionId' | 'iteration' | 'run'>,
    private readonly context: Pick<HandlerContext, 'emit'>,
    private readonly granting: Loaded,
    private readonly runtime: Pick<Runtime, 'clock'>,
    /** How long a call may take that nothing is said of before it has ended, milliseconds. */
    private readonly quietMs = 0,
  ) {}

  /** A call begins. */
  start(toolCallId: string, toolId: string, args: string): void {
    const say = (): void => this.say('tool_call_start', toolCallId, toolId, args);
    if (this.quietMs === 0) return say();
    this.unsaid = { say, timer: setTimeout(() => this.speak(), this.quietMs).unref() };
  }

  /** The start and the result of a call whose arguments are no JSON; the raw arguments are not repeated. */
  invalid(result: ToolExecResult, toolId: string): void {
    this.say('tool_call_start', result.toolCallId, toolId, '');
    this.result(toolId, result);
  }

  result(toolId: string, result: ToolExecResult): void {
    if (this.unsaid !== null) {
      // Its step is on the log in a moment, and says all of it.
      clearTimeout(this.unsaid.timer);
      this.unsaid = null;
      return;
    }
    const payload = result.ok
      ? { ok: true, result: result.value }
      : { ok: false, isError: true, errorCode: result.errorCode, message: result.safeMessage };
    this.say('tool_call_result', result.toolCallId, toolId, JSON.stringify(payload));
  }

  /** What the tool’s server says to the caller. */
  notice(toolCallId: string, toolId: string, notice: CallNotice): void {
    this.emit(toolCallId, toolId, noticeRecord(notice));
  }

  /** The tool’s server asks the caller: doors look for the question. */
  asks(toolCallId: string, toolId: string, question: string): void {
    const text = 'waits for the caller’s answer to a question of its server';
    this.emit(toolCallId, toolId, { kind: 'tool_question', text, notice: JSON.stringify({ question }) });
  }

  say(kind: string, toolCallId: string, toolId: string, text: string): void {
    this.emit(toolCallId, toolId, { kind, text, ...noNotice });
  }

  private speak(): void {
    const { unsaid } = this;
    this.unsaid = null;
    if (unsaid === null) return;
    clearTimeout(unsaid.timer);
    unsaid.say();
  }

  private emit(toolCallId: string, toolId: string, said: Pick<AgentProgress, 'kind' | 'text' | 'notice'>): void {
    this.speak();
    const { requestId, sessionId, iteration, run } = this.record;
    const tool = this.granting.evaluator.byId(toolId)?.key ?? null;
    const tenantId = run.principal?.tenantId ?? null;
    const ids = { requestId, sessionId, tenantId };
    const record = { ...ids, iteration, toolCallId, tool, ...said, ...noText, at: this.runtime.clock.now() };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
  }
}
