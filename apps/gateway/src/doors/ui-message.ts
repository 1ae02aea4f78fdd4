import type { AssistantStreamChunk } from 'assistant-stream';

/** A chunk of a UI message stream, the protocol of the AI SDK’s `useChat`: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
interface UiChunk {
  readonly type: string;
  readonly [member: string]: unknown;
}

type Of<Type extends AssistantStreamChunk['type']> = Extract<AssistantStreamChunk, { type: Type }>;
type Part = Of<'part-start'>['part'];

interface OpenPart {
  readonly part: Part;
  readonly id: string;
  /** The arguments of a call as they came. */
  text: string;
}

/** What those who follow a run need meanwhile, and the message they keep does not. */
const passing: ReadonlySet<string> = new Set(['tool_call_start', 'tool_progress', 'model_retry']);

/** The error that says that a caller or an operator ended the run: no failure, to a page. */
const cancelled = 'cancelled';

/** Makes the chunks of a UI message stream out of those of a run’s stream (docs/http.md). */
class UiMessage {
  private readonly parts: OpenPart[] = [];
  /** It has no chunk behind an error: what reads it takes none. */
  private hasFailed = false;

  of(chunk: AssistantStreamChunk): readonly UiChunk[] {
    switch (chunk.type) {
      case 'part-start':
        return this.begun(chunk.part);
      case 'text-delta':
        return this.piece(chunk.path[0] ?? 0, chunk.textDelta);
      case 'tool-call-args-text-finish':
        return this.called(chunk.path[0] ?? 0);
      case 'result':
        return this.result(chunk);
      case 'part-finish':
        return this.closed(chunk.path[0] ?? 0);
      case 'step-start':
        return [{ type: 'start-step' }];
      case 'step-finish':
        return [{ type: 'finish-step' }];
      case 'data':
        return chunk.data.map((data) => ({ type: 'data-agent', data, transient: true }));
      case 'error':
        return this.failed(chunk);
      case 'message-finish':
        return this.hasFailed ? [] : [finished(chunk)];
      default:
        return [];
    }
  }

  private begun(part: Part): readonly UiChunk[] {
    const index = this.parts.length;
    const id = part.type === 'tool-call' ? part.toolCallId : `${part.type}-${index}`;
    this.parts.push({ part, id, text: '' });
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return [{ type: `${part.type}-start`, id }];
      case 'tool-call':
        return [{ type: 'tool-input-start', toolCallId: id, toolName: part.toolName, ...ran }];
      case 'data':
        return named(part.name, part.data);
      default:
        return [];
    }
  }

  private piece(index: number, text: string): readonly UiChunk[] {
    const open = this.parts[index];
    if (open === undefined) return [];
    if (open.part.type !== 'tool-call') return [{ type: `${open.part.type}-delta`, id: open.id, delta: text }];
    open.text += text;
    return [{ type: 'tool-input-delta', toolCallId: open.id, inputTextDelta: text }];
  }

  private called(index: number): readonly UiChunk[] {
    const open = this.parts[index];
    if (open?.part.type !== 'tool-call') return [];
    const { toolName } = open.part;
    return [{ type: 'tool-input-available', toolCallId: open.id, toolName, input: read(open.text), ...ran }];
  }

  private result({ path, result, isError, isPreliminary, artifact }: Of<'result'>): readonly UiChunk[] {
    const open = this.parts[path[0] ?? 0];
    if (open === undefined) return [];
    const about = { toolCallId: open.id, ...ran, ...(artifact === undefined ? {} : { toolMetadata: artifact }) };
    if (isPreliminary === true)
      return isError ? [] : [{ type: 'tool-output-available', output: result, preliminary: true, ...about }];
    if (!isError) return [{ type: 'tool-output-available', output: result, ...about }];
    const errorText = typeof result === 'string' ? result : JSON.stringify(result);
    return [{ type: 'tool-output-error', errorText, ...about }];
  }

  private closed(index: number): readonly UiChunk[] {
    const open = this.parts[index];
    if (open?.part.type !== 'text' && open?.part.type !== 'reasoning') return [];
    return [{ type: `${open.part.type}-end`, id: open.id }];
  }

  private failed({ error, code }: Of<'error'>): readonly UiChunk[] {
    this.hasFailed = true;
    if (code === cancelled) return [{ type: 'abort', reason: error }];
    return [
      { type: 'message-metadata', messageMetadata: { error: { code: code ?? 'internal', message: error } } },
      { type: 'error', errorText: error },
    ];
  }
}

/** Tools are the agent’s: a page neither knows them by type nor runs them. */
const ran = { providerExecuted: true, dynamic: true } as const;

function named(name: string, data: unknown): readonly UiChunk[] {
  if (name === 'run') {
    const { request_id: messageId } = data as { readonly request_id: string };
    return [{ type: 'start', messageId, messageMetadata: data }];
  }
  return [{ type: `data-${name}`, data, ...(passing.has(name) ? { transient: true } : {}) }];
}

function finished({ finishReason, usage }: Of<'message-finish'>): UiChunk {
  return {
    type: 'finish',
    finishReason: finishReason === 'unknown' ? 'other' : finishReason,
    messageMetadata: { usage },
  };
}

/** Arguments that are no JSON are shown as they are. */
function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export const uiMessageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

/** The bytes of a UI message stream: a comment for what only keeps it open. */
export async function* uiMessageBytes(
  chunks: AsyncIterable<AssistantStreamChunk>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const message = new UiMessage();
  const bytes = new TextEncoder();
  for await (const chunk of chunks) {
    const isQuiet = chunk.type === 'data' && chunk.data.length === 0;
    const lines = message.of(chunk).map((one) => `data: ${JSON.stringify(one)}\n\n`);
    if (isQuiet) yield bytes.encode(': the run goes on\n\n');
    else if (lines.length > 0) yield bytes.encode(lines.join(''));
  }
  yield bytes.encode('data: [DONE]\n\n');
}
