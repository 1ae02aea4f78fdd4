import type { AgentCall } from './events.js';

/** A chunk of the assistant transport format (docs/http.md), as far as this client reads it. */
export interface Chunk {
  readonly type: string;
  readonly path: readonly number[];
  readonly part?: {
    readonly type: string;
    readonly toolCallId?: string;
    readonly toolName?: string;
    readonly name?: string;
    readonly data?: unknown;
  };
  readonly textDelta?: string;
  readonly result?: unknown;
  readonly isError?: boolean;
  readonly isPreliminary?: boolean;
  readonly artifact?: unknown;
  readonly messageId?: string;
  readonly error?: string;
  readonly code?: string;
  /** Of type `data`. */
  readonly data?: readonly { readonly type: string; readonly agent?: AgentCall; readonly chunk?: Chunk }[];
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/** The data of a stream of server-sent events, each the JSON of one event. Throws where nothing comes for `idleMs`. */
export async function* dataOf<T>(body: ReadableStream<Uint8Array>, idleMs: number): AsyncGenerator<T, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), idleMs);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data:')) continue;
        const data = line.slice('data:'.length).trim();
        if (data === '[DONE]') return;
        yield JSON.parse(data) as T;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The stream was silent for ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
