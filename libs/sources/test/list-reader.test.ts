import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ListLookup } from '@sluice/core';
import { networkRequests } from '@sluice/isolation';
import { ListReader, tryList } from '@sluice/sources';

let server: Server;
let host = '';
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const asked: { readonly url?: string; readonly key?: string }[] = [];
const said: (string | null)[] = [];
let now = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { url = '', headers } = request;
    asked.push({ url, ...(headers.authorization === undefined ? {} : { key: headers.authorization }) });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  asked.length = 0;
  said.length = 0;
  now = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json = (value: unknown) => (_: unknown, response: ServerResponse) => void response.end(JSON.stringify(value));
const ann = { tenant: 'acme', user: 'user:ann', claims: { team: ['a/../b'], two: ['x', 'y'], dots: ['..'] } };
const settings = (more: Partial<ListLookup> = {}): ListLookup => {
  const times = { refreshMs: 10_000, staleMs: 60_000, timeoutMs: 2_000 };
  return { url: `http://${host}/list`, keyEnv: null, items: '*', ...times, ...more };
};
const reader = (privateHosts: readonly string[] = [host]) => {
  const requests = networkRequests(privateHosts);
  const secret = (name: string) => (name === 'LIST_KEY' ? 'key of a test' : undefined);
  const made = new ListReader({ requests, secret, now: () => now, onRead: (_, why) => void said.push(why) });
  return { of: async (more?: Partial<ListLookup>) => made.values('contacts', settings(more), ann), made, requests };
};

describe('a list that is kept elsewhere', () => {
  it('is read with its key, once for calls at the same time, and again when it is due', async () => {
    answer = json({ contacts: [{ mail: 'ann@example.org' }, { mail: 7 }, { phone: '1' }, { mail: true }] });
    const { of, requests } = reader();
    const own = { items: 'contacts/*/mail', keyEnv: 'LIST_KEY' };
    const both = await Promise.all([of(own), of(own)]);
    expect(both[0]).toEqual(new Set(['ann@example.org', '7', 'true']));
    expect(both[1]).toEqual(both[0]);
    expect(asked).toEqual([{ url: '/list', key: 'Bearer key of a test' }]);
    now = 9_999;
    await of(own);
    expect(asked).toHaveLength(1);
    now = 10_000;
    answer = json({ contacts: [] });
    expect(await of(own)).toEqual(new Set());
    expect(said).toEqual([null, null]);
    await requests.close();
  });

  it('keeps its last values for their time where it cannot be read, asks seldom meanwhile, and is closed then', async () => {
    answer = json(['a']);
    const { of, requests } = reader();
    await of();
    answer = (_, response) => void response.writeHead(500).end();
    now = 69_999;
    expect(await of()).toEqual(new Set(['a']));
    expect(await of()).toEqual(new Set(['a']));
    expect([asked.length, said]).toEqual([2, [null, 'it answered with 500']]);
    now = 70_000;
    expect(await of()).toBeNull();
    expect(asked).toHaveLength(2);
    now = 75_000;
    answer = json(['b']);
    expect(await of()).toEqual(new Set(['b']));
    await requests.close();
  });

  it('is read for each caller, whose values are parts of the address and lead to no other', async () => {
    answer = json([]);
    const { of, requests } = reader();
    const at = (path: string) => of({ url: `http://${host}/${path}` });
    expect(await at('{tenant}/{user}?team={claims.team}')).toEqual(new Set());
    expect(asked.at(-1)?.url).toBe('/acme/user%3Aann?team=a%2F..%2Fb');
    for (const path of ['a/{claims.dots}', '{claims.two}', '{claims.none}', '{claims.toString}'])
      expect([path, await at(path)]).toEqual([path, null]);
    expect(asked).toHaveLength(1);
    await requests.close();
  });

  it.each([
    ['another status', () => (_: unknown, response: ServerResponse) => void response.writeHead(404).end('[]'), '404'],
    ['no JSON', () => (_: unknown, response: ServerResponse) => void response.end('<html>'), 'no JSON'],
    ['another form', () => json('a'), 'other parts than *'],
    ['a value that is a map', () => json(['a', { b: 1 }]), 'its value 2 is no text'],
    [
      'a number beyond what can be compared',
      () => (_: unknown, r: ServerResponse) => void r.end(`[${'9'.repeat(30)}]`),
      'its value 1',
    ],
    ['a text that is too long', () => json(['a'.repeat(1_001)]), 'its value 1 is no text of at most 1000'],
    ['too many values', () => json(Array.from({ length: 100_001 }, (_, n) => n)), '100001 values'],
    [
      'a redirect',
      () => (_: unknown, r: ServerResponse) => void r.writeHead(302, { location: '/x' }).end(),
      'redirects',
    ],
    ['silence', () => () => undefined, 'did not answer within 0.2 s'],
  ])('is not taken from %s', async (_, how, why) => {
    answer = how();
    const { of, requests } = reader();
    expect(await of({ timeoutMs: 200 })).toBeNull();
    expect(said).toEqual([expect.stringContaining(why)]);
    await requests.close();
  });

  it('is not asked without its key, nor at a private host that the configuration does not permit', async () => {
    answer = json(['a']);
    const { of, made, requests } = reader([]);
    expect(await of()).toBeNull();
    expect(await of({ keyEnv: 'OTHER_KEY' })).toBeNull();
    expect(said).toEqual([expect.stringContaining('web.private_hosts'), 'neither OTHER_KEY nor OTHER_KEY_FILE is set']);
    expect(asked).toEqual([]);
    made.close();
    await requests.close();
  });

  it('is read at once where it is the same for all, and shows its age; others are read at calls', async () => {
    answer = json(['a']);
    const { made, requests } = reader();
    made.use({
      all: { lookup: settings() },
      own: { lookup: settings({ url: `http://${host}/{user}` }) },
      written: { values: ['b'] },
    });
    expect(made.ages()).toEqual(new Map());
    while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    now = 3_000;
    expect(made.ages()).toEqual(new Map([['all', 3_000]]));
    expect(asked).toEqual([{ url: '/list' }]);
    await expect(
      tryList(settings({ url: `http://${host}/{user}` }), { requests, secret: () => undefined }),
    ).resolves.toBe(undefined);
    expect(asked).toHaveLength(1);
    made.close();
    await requests.close();
  });
});
