import { request } from 'node:http';
import { AssistantMessageAccumulator, AssistantTransportDecoder } from 'assistant-stream';
import type { AssistantMessage, AssistantStreamChunk } from 'assistant-stream';

/** Asks the gateway as any client does. */
export function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Asks as a page does whose name its owner brought to this address: `fetch` chooses the host itself. */
export function getWithHost(
  host: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...headers, host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject).end();
  });
}

export const streamed = { accept: 'text/event-stream' };

/** The chunks of a stream as the protocol’s own client reads them; rejects where the stream does not keep to it. */
export async function chunksOf(response: Response): Promise<readonly AssistantStreamChunk[]> {
  const chunks: AssistantStreamChunk[] = [];
  for await (const chunk of decoded(response)) chunks.push(chunk);
  return chunks;
}

/** One after another, as they come. */
export function decoded(response: Response): AsyncIterable<AssistantStreamChunk> {
  const body = response.body as ReadableStream<Uint8Array<ArrayBuffer>>;
  return body.pipeThrough(new AssistantTransportDecoder()) as unknown as AsyncIterable<AssistantStreamChunk>;
}

type Chunks = AsyncIterator<AssistantStreamChunk>;

/** Reads on to the part of data with this name. */
export async function upTo(name: string, chunks: Chunks): Promise<Record<string, unknown>> {
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    const { value } = next;
    if (value.type === 'part-start' && value.part.type === 'data' && value.part.name === name)
      return value.part.data as Record<string, unknown>;
  }
  throw new Error(`The stream ended without ${name}.`);
}

export async function restOf(chunks: Chunks): Promise<readonly AssistantStreamChunk[]> {
  const rest: AssistantStreamChunk[] = [];
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) rest.push(next.value);
  return rest;
}

/** The message that a client has made of the chunks by their end. */
export async function messageOf(chunks: readonly AssistantStreamChunk[]): Promise<AssistantMessage> {
  const states = ReadableStream.from(chunks).pipeThrough(new AssistantMessageAccumulator());
  let message: AssistantMessage | undefined;
  for await (const state of states as unknown as AsyncIterable<AssistantMessage>) message = state;
  if (message === undefined) throw new Error('The stream made no message.');
  return message;
}
