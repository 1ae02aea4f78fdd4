import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Agent } from 'undici';

/**
 * Processes beside the one that measures: `upstream`, a model API that answers at once, and `bare URL`, the least
 * that a proxy can be.
 */
const [what = '', target = ''] = process.argv.slice(2);
const parts: Readonly<Record<string, () => RequestListener>> = { upstream, bare };
const serve = parts[what];
if (serve === undefined) throw new Error(`There is no ${what}.`);
const server = createServer({ keepAliveTimeout: 60_000 }, serve());
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
});
process.once('disconnect', () => process.exit());

const event = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'made-up' },
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`;

const whole = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 0, model: 'made-up' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.', refusal: null }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

/**
 * Streams three words, or one every 200 ms without an end for the model `slow`; one that is asked for no stream has
 * all at once.
 */
function upstream(): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (!text.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (text.includes('"model":"slow"')) sendSlowly(response);
      else response.end(`${event('One ')}${event('two ')}${event('three.')}${event('', 'stop')}data: [DONE]\n\n`);
    });
  };
}

function sendSlowly(response: ServerResponse): void {
  response.write(event('Word '));
  const timer = setInterval(() => response.write(event('word ')), 200);
  response.on('close', () => {
    clearInterval(timer);
  });
}

/** Passes requests on by undici, and reads nothing of them. */
function bare(): RequestListener {
  const agent = new Agent({ keepAliveTimeout: 4_000 });
  const dropped = new Set(['host', 'connection']);
  return (request, response) => {
    const headers = request.rawHeaders.filter((_, at) => {
      const name = request.rawHeaders[at - (at % 2)] ?? '';
      return !dropped.has(name.toLowerCase());
    });
    agent
      .request({
        ...{ origin: target, path: request.url ?? '/', method: request.method ?? 'GET' },
        ...{ headers, body: request, responseHeaders: 'raw' as const },
      })
      .then(async ({ statusCode, headers: answered, body }) => {
        response.writeHead(statusCode, answered as unknown as string[]);
        response.flushHeaders();
        await pipeline(body, response);
      })
      .catch(() => response.destroy());
  };
}
