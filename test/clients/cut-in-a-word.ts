import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import type { Driver } from './driver.js';

const run = { type: 'part-start', path: [], part: { type: 'data', name: 'run', data: { request_id: 'r', session_id: 's', since: 5 } } }; // prettier-ignore
const step = { type: 'step-start', path: [], messageId: 'r/1' };
const waits = { iteration: 1, attempt: 4, reason: 'connection refused', retry_at: 9 };
const retry = { type: 'part-start', path: [], part: { type: 'data', name: 'model_retry', data: waits } };
const begin = { type: 'part-start', path: [], part: { type: 'text' } };
const delta = (textDelta: string, at = 1): object => ({ type: 'text-delta', path: [at], textDelta });
const end = { type: 'message-finish', path: [], usage: { inputTokens: 1, outputTokens: 2 } };

/** The chunks of each connection; the gateway of a test never cuts in the middle of a word by itself. */
const connections: readonly (readonly object[])[] = [
  [run, step, retry, begin, delta('Hel', 2), delta('lo', 2)],
  [run, step, begin, delta('Hello, wor')],
  [run, step, begin, delta('Hello'), delta(', worl\u2028d'), end],
];

/** A stream that is cut in the middle of its text, twice, is shown once; and so is that its model is asked again. */
export async function expectTextOnce(driver: Driver): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks = connections[asked.push(`${request.method ?? ''} ${request.url ?? ''}`) - 1] ?? [];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    setTimeout(() => (chunks.includes(end) ? response.end('data: [DONE]\n\n') : response.destroy()), 100);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const outcome = await driver.call({ url, token: null }, 'stream_run', { request: { question: 'Q' } });
    const { result } = outcome as { readonly result: readonly { readonly type: string; readonly text?: string }[] };
    expect(result.flatMap(({ type, text }) => (type === 'text' ? [text] : []))).toEqual([
      'Hel',
      'lo',
      ', wor',
      'l\u2028d',
    ]);
    expect(result.filter(({ type }) => type === 'run')).toHaveLength(1);
    expect(result.filter(({ type }) => type === 'model_retry')).toEqual([{ type: 'model_retry', ...waits }]);
    expect(result.at(-1)).toMatchObject({ type: 'end', answer: 'Hello, worl\u2028d', usage: { output_tokens: 2 } });
    const again = 'GET /v1/runs/r?session_id=s&since=5';
    expect(asked).toEqual(['POST /v1/runs', again, again]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
