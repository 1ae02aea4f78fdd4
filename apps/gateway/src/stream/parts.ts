import type { AssistantStreamChunk } from 'assistant-stream';
import type { AgentResponse, AgentStep, AgentStepResult, Run, ToolCall, Toolset } from '@sluice/contracts';
import { recordToJson } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { callIdOf } from '@sluice/decisions';
import { TextPart } from './text-part.js';

type Json = Extract<AssistantStreamChunk, { type: 'data' }>['data'][number];

const toMessage: readonly number[] = [];

/**
 * Turns a run’s records into the chunks of one assistant message (spec/tool-use.md §3, invariant 7): a step for each iteration, a
 * tool-call part for each call, closed behind its result, the text as it comes. The chunks leave in the order in which they are made,
 * so a result always comes before the end of the message.
 */
export class RunParts {
  #parts = 0;
  #iteration = 0;
  /** Whether the iteration still says something: behind its calls, pieces of its text come too late. */
  #speaks = false;
  #stepOpen = false;
  /** Tokens of the run by the end of the last step. */
  #tokens = { inputTokens: 0, outputTokens: 0 };
  readonly #text = new TextPart(() => this.#parts++);
  /** The parts of calls that have no result yet, by iteration and index in the turn. */
  readonly #open = new Map<string, number>();
  readonly #callIds = new Set<string>();

  /** The first of the stream: what it takes to find the run again. */
  begin(run: {
    readonly request_id: string;
    readonly session_id: string;
    readonly since: number;
  }): readonly AssistantStreamChunk[] {
    return this.#data('run', run);
  }

  of(message: Incoming): readonly AssistantStreamChunk[] {
    switch (message.topic) {
      case 'agent.toolsets':
        return this.#offered(message.record);
      case 'agent.progress':
        return this.#progress(message.record);
      case 'agent.tool-calls':
        return this.#calls(message.record);
      case 'agent.approvals':
        return this.#approval(message);
      case 'agent.steps':
        return this.#results(message.record);
      case 'agent.responses':
        return this.#end(message.record);
      case 'agent.requests':
      case 'agent.audit':
      case 'agent.dead-letters':
      case 'agent.config':
        return [];
    }
  }

  /** Nothing more comes though the run goes on, or nobody may hear of it: the message ends with the reason. */
  cut(code: string, error: string): readonly AssistantStreamChunk[] {
    return [
      ...this.#text.close(),
      { type: 'error', path: toMessage, error, code },
      { type: 'message-finish', path: toMessage, finishReason: 'error', usage: { inputTokens: 0, outputTokens: 0 } },
    ];
  }

  #offered({ iteration, state, tools, requestId }: Toolset): readonly AssistantStreamChunk[] {
    if (iteration <= this.#iteration) return [];
    this.#iteration = iteration;
    this.#speaks = true;
    this.#stepOpen = true;
    return [
      ...this.#text.close(),
      { type: 'step-start', path: toMessage, messageId: `${requestId}/${iteration}` },
      ...this.#data('iteration', { iteration, state, tools: tools.map(({ id }) => id) }),
    ];
  }

  #progress({
    kind,
    iteration,
    text,
  }: Extract<Incoming, { topic: 'agent.progress' }>['record']): readonly AssistantStreamChunk[] {
    if (!this.#speaks || iteration !== this.#iteration || (kind !== 'text' && kind !== 'thinking')) return [];
    return this.#text.add(kind === 'text' ? 'text' : 'reasoning', text);
  }

  #calls(record: ToolCall): readonly AssistantStreamChunk[] {
    this.#speaks = false;
    const chunks = [...this.#text.complete(record.thought), ...this.#text.close()];
    for (const [index, call] of record.calls.entries())
      chunks.push(...this.#call(record.iteration, index, callIdOf(record, call, index), call.tool, call.arguments));
    return chunks;
  }

  #call(iteration: number, index: number, callId: string, toolName: string, args: string): AssistantStreamChunk[] {
    const at = `${iteration}/${index}`;
    // Models name their calls anew in each turn; within one message a name must mean one call.
    const toolCallId = this.#callIds.has(callId) ? `${at}/${callId}` : callId;
    this.#callIds.add(toolCallId);
    const part = this.#parts++;
    this.#open.set(at, part);
    return [
      { type: 'part-start', path: toMessage, part: { type: 'tool-call', toolCallId, toolName } },
      { type: 'text-delta', path: [part], textDelta: args },
      { type: 'tool-call-args-text-finish', path: [part] },
    ];
  }

  /** With the place that a decision must name, as whoever decides writes it. */
  #approval({ record, partition, offset }: Incoming<'agent.approvals'>): readonly AssistantStreamChunk[] {
    const { requested, outcome } = record;
    if (requested !== null) {
      const { steps: _, ...asked } = recordToJson('ApprovalRequested', requested) as { [name: string]: Json };
      const place = { requested_partition: partition, requested_offset: offset };
      return this.#data('approval_requested', { ...asked, ...place });
    }
    return outcome === null ? [] : this.#data('approval_outcome', recordToJson('ApprovalOutcome', outcome) as Json);
  }

  #results({ iteration, steps, run }: AgentStepResult): readonly AssistantStreamChunk[] {
    const results = steps.flatMap((step, index) => this.#result(step, `${iteration}/${index}`));
    return [...results, ...this.#finishStep('tool-calls', run, true)];
  }

  /** A part is closed by `part-finish`; its result alone does not end it (spec/tool-use.md §3). */
  #result(step: AgentStep, at: string): readonly AssistantStreamChunk[] {
    const part = this.#open.get(at);
    if (part === undefined) return [];
    this.#open.delete(at);
    const { outcome, reason, observation, state, stateBefore } = step;
    const isError = outcome !== 'ok';
    const artifact = { outcome, reason, state_before: stateBefore, state };
    return [
      { type: 'result', path: [part], result: read(observation), isError, artifact },
      { type: 'part-finish', path: [part] },
    ];
  }

  #end({ answer, error, run }: AgentResponse): readonly AssistantStreamChunk[] {
    const usage = { inputTokens: run?.inputTokens ?? 0, outputTokens: run?.outputTokens ?? 0 };
    const finishReason = error === null ? 'stop' : 'error';
    const open = [...this.#open.values()];
    this.#open.clear();
    return [
      ...this.#text.complete(answer ?? ''),
      ...this.#text.close(),
      ...open.flatMap((part): AssistantStreamChunk[] => [
        { type: 'result', path: [part], result: 'The run ended before this call had a result.', isError: true },
        { type: 'part-finish', path: [part] },
      ]),
      ...(error === null ? [] : [{ type: 'error', path: toMessage, error: error.message, code: error.code } as const]),
      ...(run === null ? [] : this.#finishStep(finishReason, run, false)),
      { type: 'message-finish', path: toMessage, finishReason, usage },
    ];
  }

  #finishStep(
    finishReason: 'stop' | 'error' | 'tool-calls',
    { inputTokens, outputTokens }: Run,
    isContinued: boolean,
  ): readonly AssistantStreamChunk[] {
    if (!this.#stepOpen) return [];
    this.#stepOpen = false;
    const before = this.#tokens;
    this.#tokens = { inputTokens, outputTokens };
    const usage = {
      inputTokens: inputTokens - before.inputTokens,
      outputTokens: outputTokens - before.outputTokens,
    };
    return [{ type: 'step-finish', path: toMessage, finishReason, usage, isContinued }];
  }

  #data(name: string, data: Json): readonly AssistantStreamChunk[] {
    const part = this.#parts++;
    return [
      ...this.#text.close(),
      { type: 'part-start', path: toMessage, part: { type: 'data', name, data } },
      { type: 'part-finish', path: [part] },
    ];
  }
}

/** What a tool returned, as JSON where it is some. */
function read(observation: string): Json {
  try {
    return JSON.parse(observation) as Json;
  } catch {
    return observation;
  }
}
