import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { RawPart } from '@sluice/core';
import type { Faults } from './faults.js';

/** A call as it came: the id may be missing (empty), repeated or too long; the arguments are raw text. */
export interface WireCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
}

/** All that one stream said. */
export interface StreamedTurn {
  readonly text: string;
  readonly calls: readonly WireCall[];
  /** Tools of calls that were begun and never came to their end. */
  readonly unfinished: readonly string[];
  readonly finish: LanguageModelV4FinishReason['unified'];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What came beside text and calls. */
  readonly raw: readonly RawPart[];
}

export interface StreamReading {
  readonly faults: Faults;
  readonly onText: ((piece: string) => void) | undefined;
  readonly wireCallIds: ((chunk: unknown) => string[]) | undefined;
}

/** Reads a stream to its end. Throws a fault where it breaks off, reports an error, or ends before it was finished. */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { faults, onText, wireCallIds }: StreamReading,
): Promise<StreamedTurn> {
  let text = '';
  let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  const calls: WireCall[] = [];
  const raw: RawPart[] = [];
  const idsOnWire = new Set<string>();
  const begun = new Map<string, string>();

  for await (const part of guarded(stream, faults)) {
    switch (part.type) {
      case 'text-delta':
        text += part.delta;
        if (part.delta !== '') onText?.(part.delta);
        break;
      case 'tool-input-start':
        if (!part.providerExecuted) begun.set(part.id, part.toolName);
        break;
      case 'tool-call':
        begun.delete(part.toolCallId);
        // What the provider runs on its own side is not ours to run, and none of it is ever asked for.
        if (part.providerExecuted) raw.push({ kind: part.type, payload: part });
        else
          calls.push({
            id: wireCallIds === undefined || idsOnWire.has(part.toolCallId) ? part.toolCallId : '',
            tool: part.toolName,
            arguments: part.input,
          });
        break;
      case 'raw':
        for (const id of wireCallIds?.(part.rawValue) ?? []) idsOnWire.add(id);
        break;
      case 'error':
        throw faults.fromStream(part.error);
      case 'finish':
        finish = part;
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'reasoning-file':
      case 'tool-result':
      case 'tool-approval-request':
      case 'source':
      case 'file':
        raw.push({ kind: part.type, payload: part });
        break;
      case 'custom':
        // The envelope of a message of Anthropic's comes with every turn and holds no content.
        if (part.kind !== 'anthropic.message_start') raw.push({ kind: part.type, payload: part });
        break;
      case 'text-start':
      case 'text-end':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'stream-start':
      case 'response-metadata':
      case 'ping':
        break;
    }
  }
  if (finish === undefined || endedEarly(finish.finishReason)) throw faults.cutOff();
  return {
    text,
    calls,
    unfinished: [...begun.values()],
    finish: finish.finishReason.unified,
    inputTokens: finish.usage.inputTokens.total ?? 0,
    outputTokens: finish.usage.outputTokens.total ?? 0,
    raw,
  };
}

/** Errors of reading become faults; an error thrown by the consumer of the parts (`onText`) stays what it is. */
async function* guarded(stream: ReadableStream<LanguageModelV4StreamPart>, faults: Faults) {
  try {
    yield* stream;
  } catch (error) {
    throw faults.fromStream(error);
  }
}

/** Without the provider's own reason, a stream was cut, however cleanly the connection was closed. */
function endedEarly(reason: LanguageModelV4FinishReason): boolean {
  return reason.unified === 'interrupted' || (reason.raw === undefined && ['other', 'error'].includes(reason.unified));
}
