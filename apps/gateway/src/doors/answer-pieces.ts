import type { AssistantStreamChunk } from 'assistant-stream';
import { isClientTool } from '@sluice/core';
import type { CallPart, Finish, Usage } from '@sluice/wires';

/** How calls of the agent’s tools are shown behind a door. */
export type ShownCalls = 'nothing' | 'reasoning' | 'text';

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens'>;

/** A run as a door tells it, piece by piece. */
export type AnswerPiece =
  /** A text begins; `again`: in place of the text before it, of which the model said something else in the end. */
  | { readonly type: 'begin'; readonly kind: 'text' | 'reasoning'; readonly again: boolean }
  | { readonly type: 'piece'; readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** Nothing came for a while. */
  | { readonly type: 'quiet' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  /** A call waits for an approval: the run goes on without this answer. */
  | { readonly type: 'parked'; readonly tool: string; readonly approvalId: string }
  /** Calls wait for the client, which finds them under the question; with what the run has used up to there. */
  | { readonly type: 'calls'; readonly question: string; readonly usage: Tokens }
  | { readonly type: 'end'; readonly finish: Finish; readonly usage: Tokens };

/** What goes to the client: the run’s pieces, and the calls that the client is to make. */
export type ShownPiece = Exclude<AnswerPiece, { type: 'calls' }> | { readonly type: 'call'; readonly call: CallPart };

type Json = Readonly<Record<string, unknown>>;
type PartStart = Extract<AssistantStreamChunk, { type: 'part-start' }>;

/** `length` for whatever else is not a whole answer: a client must not take it for one. */
const finishes: Readonly<Record<string, Finish>> = { stop: 'stop', length: 'length', 'content-filter': 'filtered' };

/** Makes a door’s pieces out of the chunks of a run’s stream, one after another. */
export class AnswerPieces {
  private readonly kinds: PartStart['part'][] = [];
  private readonly calls = new Map<number, string>();
  /** What the turns used that are over. */
  tokens = { inputTokens: 0, outputTokens: 0 };
  private hasTextInStep = false;

  constructor(private readonly shown: ShownCalls) {}

  of(chunk: AssistantStreamChunk): readonly AnswerPiece[] {
    switch (chunk.type) {
      case 'step-start':
        this.hasTextInStep = false;
        return [];
      case 'step-finish':
        this.tokens = {
          inputTokens: this.tokens.inputTokens + (chunk.usage.inputTokens ?? 0),
          outputTokens: this.tokens.outputTokens + (chunk.usage.outputTokens ?? 0),
        };
        return [];
      case 'part-start':
        return this.begun(chunk);
      case 'text-delta':
        return this.said(chunk.path[0] ?? 0, chunk.textDelta);
      case 'tool-call-args-text-finish':
        return this.called(chunk.path[0] ?? 0);
      case 'data':
        return chunk.data.length === 0 ? [{ type: 'quiet' }] : chunk.data.flatMap(parkedAgent);
      case 'error':
        return [{ type: 'failed', code: chunk.code ?? 'internal', message: chunk.error }];
      case 'message-finish':
        return [{ type: 'end', finish: finishes[chunk.finishReason] ?? 'length', usage: this.tokens }];
      default:
        return [];
    }
  }

  private begun({ part }: PartStart): readonly AnswerPiece[] {
    const index = this.kinds.push(part) - 1;
    if (part.type === 'tool-call') this.calls.set(index, '');
    if (part.type === 'text') {
      const again = this.hasTextInStep;
      this.hasTextInStep = true;
      return [{ type: 'begin', kind: 'text', again }];
    }
    if (part.type === 'reasoning') return [{ type: 'begin', kind: 'reasoning', again: false }];
    return [...parkedIn(part), ...callsIn(part)];
  }

  private said(index: number, text: string): readonly AnswerPiece[] {
    const kind = this.kinds[index]?.type;
    if (kind === 'text' || kind === 'reasoning') return [{ type: 'piece', kind, text }];
    if (kind === 'tool-call') this.calls.set(index, `${this.calls.get(index) ?? ''}${text}`);
    return [];
  }

  private called(index: number): readonly AnswerPiece[] {
    const part = this.kinds[index];
    const { shown: kind } = this;
    // The client is shown its own calls as such.
    if (part?.type !== 'tool-call' || kind === 'nothing' || isClientTool(part.toolName)) return [];
    this.hasTextInStep = false;
    const text = `Calls ${part.toolName} with ${this.calls.get(index) ?? ''}`;
    return [
      { type: 'begin', kind, again: false },
      { type: 'piece', kind, text },
    ];
  }
}

/** Of an agent that the run called: its calls wait as the run’s own do. */
function parkedAgent(entry: unknown): readonly AnswerPiece[] {
  const { chunk } = (entry ?? {}) as { readonly chunk?: Partial<PartStart> };
  return chunk?.type === 'part-start' && chunk.part !== undefined ? parkedIn(chunk.part) : [];
}

function parkedIn(part: PartStart['part']): readonly AnswerPiece[] {
  if (part.type !== 'data' || part.name !== 'approval_requested') return [];
  const { tool, approval_id: approvalId } = part.data as Json;
  return [{ type: 'parked', tool: String(tool), approvalId: String(approvalId) }];
}

function callsIn(part: PartStart['part']): readonly AnswerPiece[] {
  if (part.type !== 'data' || part.name !== 'client_calls') return [];
  const { question, input_tokens: input, output_tokens: output } = part.data as Json;
  return [
    { type: 'calls', question: String(question), usage: { inputTokens: Number(input), outputTokens: Number(output) } },
  ];
}
