import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConnectionError, RateLimitedError } from '../../packages/client/src/errors.js';
import { Sluice } from '../../packages/client/src/client.js';
import { IterationText } from '../../packages/client/src/iteration-text.js';
import { queryOf, retryAfterOf } from '../../packages/client/src/transport.js';

type Answer = (response: ServerResponse, n: number) => void;
const open: { close(): void; closeAllConnections(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A gateway that answers its requests so. */
async function answering(answer: Answer): Promise<{ readonly url: string; readonly paths: readonly string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method ?? ''} ${request.url ?? ''}`);
    answer(response, paths.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

const run = { type: 'part-start', path: [], part: { type: 'data', name: 'run', data: { request_id: 'r', session_id: 's', since: 5 } } }; // prettier-ignore
const step = { type: 'step-start', path: [], messageId: 'r/1' };
const text = (part: number, ...pieces: readonly string[]) => [
  { type: 'part-start', path: [], part: { type: 'text' } },
  ...pieces.map((textDelta) => ({ type: 'text-delta', path: [part], textDelta })),
];
const end = { type: 'message-finish', path: [], usage: { inputTokens: 1, outputTokens: 2 } };
const write = (response: ServerResponse, ...chunks: readonly object[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
};

async function said(events: AsyncIterable<{ readonly type: string }>): Promise<readonly unknown[]> {
  const found = [];
  for await (const event of events) if (event.type === 'text' || event.type === 'end') found.push(event);
  return found;
}

describe('the text of an iteration that is read again', () => {
  const shown = (...connections: readonly (readonly (readonly string[])[])[]): readonly string[] => {
    const reader = new IterationText();
    const parts: string[] = [];
    for (const connection of connections) {
      reader.connected();
      for (const part of connection) {
        reader.begin();
        for (const piece of part)
          for (const { part: at, text } of reader.add(piece)) parts[at] = (parts[at] ?? '') + text;
      }
    }
    return parts;
  };

  it('goes on where it was cut', () => {
    expect(shown([['Hel', 'lo']], [['Hello, world']])).toEqual(['Hello, world']);
    expect(shown([['Hel', 'lo']], [['He', 'llo, ', 'world']])).toEqual(['Hello, world']);
    expect(shown([['Hel', 'lo']], [['Hello']], [['Hello!']])).toEqual(['Hello!']);
  });
  it('is another part where it is another text', () => {
    expect(shown([['Hello']], [['Good day']])).toEqual(['Hello', 'Good day']);
    expect(shown([['Hello']], [['Help']])).toEqual(['Hello', 'Help']);
  });
  it('is shown as it comes on the first connection', () => {
    expect(shown([['Hello'], ['Hello again']])).toEqual(['Hello', 'Hello again']);
  });
  it('is not repeated where it had several parts', () => {
    expect(shown([['One'], ['Two']], [['One'], ['Two and a half']])).toEqual(['One', 'Two and a half']);
  });
});

describe('a stream', () => {
  it('that is cut in the middle of a word goes on behind it', async () => {
    const { url, paths } = await answering((response, n) => {
      if (n > 1) return void (write(response, run, step, ...text(1, 'Hello, world'), end), response.end());
      write(response, run, step, ...text(1, 'Hel', 'lo'));
      setTimeout(() => response.destroy(), 20);
    });
    expect(await said(new Sluice({ url }).runs.stream({ question: 'Q' }))).toEqual([
      { type: 'text', iteration: 1, part: 0, text: 'Hel' },
      { type: 'text', iteration: 1, part: 0, text: 'lo' },
      { type: 'text', iteration: 1, part: 0, text: ', world' },
      {
        type: 'end',
        answer: 'Hello, world',
        error: null,
        incomplete: null,
        structured: null,
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    ]);
    expect(paths).toEqual(['POST /v1/runs', 'GET /v1/runs/r?session_id=s&since=5']);
  });

  it.each(['slow', 'stopping', 'interrupted'])('that the gateway ends with %s is read again', async (code) => {
    const { url, paths } = await answering((response, n) => {
      const cut = { type: 'error', path: [], code, error: 'Later.' };
      write(response, run, step, ...text(1, 'Hi'), ...(n > 1 ? [end] : [cut, end]));
      response.end('data: [DONE]\n\n');
    });
    expect(await said(new Sluice({ url }).runs.follow('/v1/runs/r?since=5'))).toHaveLength(2);
    expect(paths.length).toBe(2);
  });

  it('that says nothing counts as cut, and says where the run is once there is no more use', async () => {
    const { url, paths } = await answering((response) => write(response, run));
    const events = new Sluice({ url, idleMs: 50, retries: 1 }).runs.stream({ question: 'Q' });
    const failure = await said(events).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure).toMatchObject({
      location: '/v1/runs/r?session_id=s&since=5',
      message: 'The stream was silent for 50 ms.',
    });
    // The first had something new.
    expect(paths.length).toBe(3);
  });

  it('ends where the caller says, and closes its connection', async () => {
    let isClosed = false;
    const { url } = await answering((response) => {
      response.on('close', () => (isClosed = true));
      write(response, run, step);
    });
    const stop = new AbortController();
    const events = new Sluice({ url }).runs.stream({ question: 'Q' }, { signal: stop.signal });
    await events.next();
    const rest = events.next();
    stop.abort(new Error('Enough.'));
    await expect(rest).rejects.toThrow('Enough.');
    for (let n = 0; n < 200 && !isClosed; n++) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(isClosed).toBe(true);
  });
});

describe('a request', () => {
  const refused = (response: ServerResponse, status: number, headers: object): void =>
    void response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end('{"code":"rate_limited"}'); // prettier-ignore

  it('is tried again when the gateway says, and not where that is too late', async () => {
    const { url, paths } = await answering((response, n) =>
      n === 1 ? refused(response, 429, { 'retry-after': '1' }) : response.end('{"groups":[]}'),
    );
    const before = Date.now();
    expect(await new Sluice({ url }).groups.list()).toEqual({ groups: [] });
    expect([paths.length, Date.now() - before >= 990]).toEqual([2, true]);
    const late = await answering((response) => refused(response, 429, { 'retry-after': '3600' }));
    const failure = await new Sluice({ url: late.url }).groups.list().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RateLimitedError);
    expect([failure, late.paths.length]).toMatchObject([{ retryAfterMs: 3_600_000 }, 1]);
  });

  it('has a key of its own, the same in every attempt, unless it has a request_id', async () => {
    const keys: unknown[] = [];
    const { url } = await answering((response, n) => {
      keys.push(response.req.headers['idempotency-key']);
      if (n === 1) response.destroy();
      else response.writeHead(202).end('{"status":"running"}');
    });
    const { runs } = new Sluice({ url });
    await runs.create({ question: 'Q' });
    await runs.create({ question: 'Q', request_id: 'mine' });
    await runs.create({ question: 'Q' }, { idempotencyKey: 'ours' });
    expect(keys).toEqual([keys[1], expect.stringMatching(/^[0-9a-f]{32}$/), undefined, 'ours']);
  });

  it('that a proxy refuses with a page is an error with its status', async () => {
    const { url } = await answering((response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'));
    await expect(new Sluice({ url, retries: 0 }).groups.list()).rejects.toMatchObject({ name: 'UnavailableError', status: 502, code: 'http_502' }); // prettier-ignore
  });

  it('without an answer is an error that says so', async () => {
    await expect(new Sluice({ url: 'http://127.0.0.1:1', retries: 0 }).groups.list()).rejects.toThrow(/^GET \/v1\/groups got no answer: /); // prettier-ignore
    const { url } = await answering(() => undefined);
    await expect(new Sluice({ url, retries: 0, timeoutMs: 50 }).groups.list()).rejects.toThrow(
      'no answer within 50 ms',
    );
    expect(() => new Sluice({ url: 'ftp://x' })).toThrow('url must begin with http:// or https://.');
  });

  it('reads retry-after as seconds and as a date, and writes lists with commas', () => {
    const of = (value: string) => retryAfterOf({ headers: new Headers({ 'retry-after': value }) }, Date.parse('2026-01-31T12:00:00Z')); // prettier-ignore
    expect([of('2'), of('Sat, 31 Jan 2026 12:00:30 GMT'), of('soon')]).toEqual([2_000, 30_000, null]);
    expect(queryOf({ group: ['a', 'b/c'], state: undefined, limit: 2 })).toBe('?group=a%2Cb%2Fc&limit=2');
  });

  it('knows a run by its id, and says where a list has no link to one', async () => {
    const { runs } = new Sluice({ url: 'http://127.0.0.1:1', retries: 0 });
    await expect(runs.get('r/1')).rejects.toThrow(/^GET \/v1\/runs\/r%2F1 got no answer: /);
    await expect(runs.get({ href: null })).rejects.toThrow('has no href');
  });
});
