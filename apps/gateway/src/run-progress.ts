import { make } from '@sluice/contracts';
import type { AgentRequest, AgentStep, DirectCall, RequestedCall, Run, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { callIdOf } from '@sluice/run';
import type { ShownArguments } from '@sluice/core';
import { ofRecords } from './record-view.js';
import type { RecordView } from './record-view.js';

/** A call of a run as callers read it; `ok` is null while it has no result on record. */
interface CallJson {
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
  readonly ok: boolean | null;
  readonly error: string | null;
  readonly reason: string | null;
  readonly state: string | null;
  readonly started_at: number | null;
  readonly duration_ms: number | null;
}

/** What a run has called and used by the records so far: each of them has the run whole, so the latest one counts. */
export class RunProgress {
  constructor(private readonly view: RecordView = ofRecords) {}

  /** Steps that the request brought along are none of this run; null while their number is unknown. */
  private brought: number | null = null;
  private history: readonly AgentStep[] = [];
  private pending: ToolCall | null = null;
  /** The call that the request makes itself: no record of it comes before its step. */
  private own: DirectCall | null = null;
  /** The turn that the model is asked for. */
  private modelTurn = 0;
  private called = 0;
  private run: Run | null = null;
  /** The keys of the tools by the ids that the model writes. */
  private readonly keys = new Map<string, string>();

  asks({ history, call }: Pick<AgentRequest, 'history' | 'call'>): void {
    this.brought = history.length;
    this.own = call;
  }

  add(message: Incoming): void {
    switch (message.topic) {
      case 'agent.requests':
      case 'agent.calls':
        this.asks(message.record);
        break;
      case 'agent.toolsets': {
        const { iteration, request, run } = message.record;
        for (const { id, key } of this.view.offered(message.record)) this.keys.set(id, key);
        if (iteration === 1) this.brought = request.history.length;
        this.modelTurn = Math.max(this.modelTurn, iteration);
        this.see(request.history, run);
        break;
      }
      case 'agent.tool-calls':
        this.see(message.record.request.history, message.record.run);
        this.pending = message.record;
        this.called = Math.max(this.called, message.record.iteration);
        break;
      case 'agent.steps':
        this.see(message.record.next.history, message.record.run);
        break;
      case 'agent.responses':
        this.see(message.record.history, message.record.run);
        this.pending = null;
        this.own = null;
        break;
      default:
    }
  }

  /** Whether the run is at the turn’s model by what the log has. */
  isWithModel(iteration: number): boolean {
    return this.modelTurn === iteration && this.called < iteration;
  }

  json(): object {
    const done = this.history.slice(this.brought ?? 0).filter(({ iteration }) => iteration > 0);
    const pending = this.pending;
    const isDone = pending !== null && done.some(({ iteration }) => iteration >= pending.iteration);
    const { tool, arguments: args } = this.own ?? {};
    const own =
      tool === undefined || args === undefined
        ? []
        : [make.requestedCall({ toolCallId: 'call-0', tool, arguments: args })];
    const turn = pending ?? { iteration: 1, calls: own };
    const open =
      isDone || (pending === null && done.length > 0)
        ? []
        : turn.calls.map((call, index) => this.open(turn, call, index));
    return {
      tool_calls: [...done.map((step) => stepJson(step, this.view.shown)), ...open],
      tokens: tokensOf(this.run),
    };
  }

  private open(record: Pick<ToolCall, 'iteration'>, call: RequestedCall, index: number): CallJson {
    const open = { ok: null, error: null, reason: null, state: null, started_at: null, duration_ms: null };
    const tool = this.keys.get(call.tool) ?? this.view.keyOf(call.tool);
    return { id: callIdOf(record, call, index), tool, arguments: this.view.shown(call.tool, call.arguments), ...open };
  }

  private see(history: readonly AgentStep[], run: Run | null): void {
    // Records of several topics may come in another order than they were made in.
    if (history.length >= this.history.length) this.history = history;
    if (run !== null && (this.run === null || used(run) >= used(this.run))) this.run = run;
  }
}

/** A step as a call of the run: arguments as callers read them, times as its record has them. */
export function stepJson(step: AgentStep, shown: ShownArguments): CallJson {
  const { toolCallId, action, outcome, reason, state, startedAt, endedAt } = step;
  const ok = outcome === 'ok';
  return {
    ...{ id: toolCallId, tool: action, arguments: shown(action, step.arguments), ok },
    ...{ error: ok ? null : outcome, reason, state },
    started_at: startedAt === 0 ? null : startedAt,
    duration_ms: startedAt === 0 ? null : endedAt - startedAt,
  };
}

/** What the model read and wrote, and how much of what it read its provider had in a cache. */
export function tokensOf(run: Pick<Run, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'> | null): object {
  return { input: run?.inputTokens ?? 0, output: run?.outputTokens ?? 0, cached: run?.cachedInputTokens ?? 0 };
}

function used({ inputTokens, outputTokens }: Run): number {
  return inputTokens + outputTokens;
}
