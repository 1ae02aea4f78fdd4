import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { startSample } from './sample-client.js';
import type { Sample } from './sample-client.js';

const folder = mkdtempSync(join(tmpdir(), 'sample-servers-'));
const started: Sample[] = [];
const listening: Server[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((sample) => sample.close()));
  for (const server of listening.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(...given: Parameters<typeof startSample>): Promise<Sample> {
  const sample = await startSample(...given);
  started.push(sample);
  return sample;
}

/** An HTTP service on a free port. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  listening.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const rich = 'secret1qqqsyqcyq5rqwzqfpg9scrgwpugpzysnpn9nv9';
const ways: readonly (readonly [string, Parameters<typeof startSample>[1]])[] = [
  ['system', { args: [folder] }],
  ['data', {}],
  ['weather', {}],
  ['balance', { env: { SECRET_REST_URL: 'http://127.0.0.1:9' } }],
];

describe('every sample server', () => {
  const running = new Map<string, Promise<Sample>>();
  const open = (name: string, how: Parameters<typeof startSample>[1]): Promise<Sample> => {
    const sample = running.get(name) ?? startSample(name, how);
    running.set(name, sample);
    return sample;
  };
  afterAll(async () => {
    for (const sample of running.values()) await (await sample).close();
  });

  it.each(ways)(
    '%s offers tools with clear names, long descriptions, examples and closed schemas (M-04, M-10 to M-13, M-70 to M-74)',
    async (name, how) => {
      const sample = await open(name, how);
      const { tools } = await sample.client.listTools();
      expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length);
      for (const tool of tools) {
        const { description = '', inputSchema } = tool;
        expect(tool.name).toMatch(/^[a-z]+(_[a-z]+)+$/);
        expect(description.length).toBeGreaterThan(80);
        const [, example = ''] = /Example: (\{.*\})\.$/.exec(description) ?? [];
        const { text } = await sample.call(tool.name, JSON.parse(example) as Record<string, unknown>);
        expect(text).not.toContain('Invalid arguments');
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
        for (const property of Object.values(inputSchema.properties ?? {}))
          expect(property).toMatchObject({ type: 'string', description: expect.stringMatching(/\S/) as unknown });
        expect(tool.annotations).toBeDefined();
      }
    },
  );

  it.each(ways)('%s refuses arguments that its schema does not have, in a result (M-05, M-75)', async (name, how) => {
    const sample = await open(name, how);
    const { tools } = await sample.client.listTools();
    for (const { name: tool } of tools) {
      for (const args of [{ nonsense: 1 }, { filepath: 7, address: [], location: {}, json_data: null, path: false }]) {
        const first = await sample.call(tool, args);
        expect([first.isError, first.text]).toEqual([
          true,
          expect.stringContaining(`Invalid arguments for tool ${tool}`),
        ]);
        expect(await sample.call(tool, args)).toEqual(first);
      }
    }
    await expect(sample.call('no_such_tool', {})).rejects.toMatchObject({ code: -32602 });
  });
});

describe('the sample server for JSON', () => {
  it.each(['2025', '2026'] as const)('summarises a text in the protocol of %s (M-21, M-22, M-43)', async (era) => {
    const { text, isError, value } = await (
      await start('data', { era })
    ).call('analyze_json', {
      json_data: '{"users":[{"name":"Ann","age":4},{"name":null}],"__proto__":{"x":1}}',
    });
    expect([isError, JSON.parse(text)]).toEqual([false, value]);
    expect(value).toMatchObject({
      type: 'object',
      depth: 3,
      counts: { object: 4, array: 1, string: 1, number: 2, null: 1 },
      paths: expect.arrayContaining([
        { path: '$.users[].name', types: ['null', 'string'], count: 2 },
        { path: '$.__proto__.x', types: ['number'], count: 1 },
      ]) as unknown,
    });
  });

  it('says what is wrong with a text that is no JSON, and bears any that is (M-33, M-43)', async () => {
    const data = await start('data');
    expect(await data.call('analyze_json', { json_data: '{"a":' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Invalid json_data. Please provide valid JSON: ') as unknown,
    });
    const deep = await data.call('analyze_json', { json_data: '['.repeat(100_000) + ']'.repeat(100_000) });
    expect(deep.value).toMatchObject({
      depth: 100_000,
      counts: { array: 100_000 },
      paths_left_out: expect.any(Number) as unknown,
    });
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]));
    expect((await data.call('analyze_json', { json_data: JSON.stringify(wide) })).value).toMatchObject({
      paths_left_out: 301,
    });
  });
});

describe('the sample server for the weather', () => {
  const service = async (answer: RequestListener, more: object = {}) => {
    const url = await listen(answer);
    const config = join(folder, `${listening.length}-${Date.now()}.json`);
    const fields = { temperature_c: 'current.temp_c', conditions: 'list.0.text' };
    writeFileSync(config, JSON.stringify({ url: `${url}/now?q={location}`, fields, ...more }));
    return { args: ['--config', config] };
  };

  it('answers from sample data unless it is given a service, and says so (M-42)', async () => {
    const weather = await start('weather');
    expect((await weather.call('weather_lookup', { location: 'vienna' })).value).toMatchObject({
      source: 'sample data',
      weather: { temperature_c: 21.5 },
    });
    expect(await weather.call('weather_lookup', { location: 'Nowhere' })).toMatchObject({
      isError: true,
      text: 'There is no sample data for Nowhere. Please provide one of Vienna, Paris, Tokyo.',
    });
  });

  it('asks a service with its key, for the encoded location, and shows the fields that are wanted (M-42)', async () => {
    const seen: unknown[] = [];
    const how = await service(
      (request, response) => {
        seen.push(request.url, request.headers['x-key']);
        json(200, { current: { temp_c: 3 }, list: [{ text: 'snow' }], more: 'unwanted' })(request, response);
      },
      { key_env: 'KEY', headers: { 'x-key': '{key}' } },
    );
    const weather = await start('weather', { ...how, env: { KEY: 'k$&1' } });
    const location = 'São Paulo&key=other/../{key}';
    expect((await weather.call('weather_lookup', { location })).value).toMatchObject({
      weather: { temperature_c: 3, conditions: 'snow' },
    });
    expect(seen).toEqual([`/now?q=${encodeURIComponent(location)}`, 'k$&1']);
  });

  it('says in a result what a service cannot do, and whose turn it is (M-34, M-35)', async () => {
    const cases: readonly (readonly [RequestListener, string])[] = [
      [json(500, {}), 'The external service failed (500). Please try again.'],
      [json(429, {}), 'busy (429). Please wait a minute and try again.'],
      [json(401, {}), 'Access denied. This operation requires additional permissions.'],
      [json(404, {}), 'There is no weather for x. Please provide the name of a city'],
      [json(200, '<html>'), 'did not answer with JSON. Please try again.'],
      [json(200, `"${'x'.repeat(300_000)}"`), 'more than 262144 bytes'],
      [(request) => request.socket.destroy(), 'cannot be reached. Please try again.'],
      [(_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), 'failed (302)'],
    ];
    let answer: RequestListener = () => undefined;
    const weather = await start('weather', await service((...given) => answer(...given)));
    for (const [next, said] of cases) {
      answer = next;
      const { isError, text } = await weather.call('weather_lookup', { location: 'x' });
      expect([isError, text]).toEqual([true, expect.stringContaining(said)]);
      expect(text).not.toContain('127.0.0.1');
    }
  });

  it('waits five seconds for a service, and then invites another try (M-34, M-80)', async () => {
    const weather = await start('weather', await service(() => undefined));
    const { isError, text } = await weather.call('weather_lookup', { location: 'x' });
    expect([isError, text]).toEqual([true, 'Network timeout while connecting to external service. Please try again.']);
  });
});

describe('the sample server for balances', () => {
  const node = (answer: RequestListener) => listen(answer).then((url) => ({ env: { SECRET_REST_URL: url } }));

  it('asks the node for the balance of an address, which it annotates as reading (M-41, M-56)', async () => {
    const seen: unknown[] = [];
    const how = await node((request, response) => {
      seen.push(request.url);
      json(200, { balance: { denom: 'uscrt', amount: '90071992547409931' } })(request, response);
    });
    const balance = await start('balance', how);
    expect(await balance.call('query_secret_balance', { address: rich })).toEqual({
      text: `${rich} holds 90071992547.409931 SCRT.`,
      isError: false,
      value: { address: rich, uscrt: '90071992547409931', scrt: '90071992547.409931' },
    });
    expect(seen).toEqual([`/cosmos/bank/v1beta1/balances/${rich}/by_denom?denom=uscrt`]);
    const { tools } = await balance.client.listTools();
    expect(tools[0]?.annotations).toEqual({
      title: 'Secret Network Balance Query',
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: true,
    });
  });

  it('refuses what is no address before the node hears of it (M-33, M-41)', async () => {
    let heard = 0;
    const balance = await start('balance', await node(() => heard++));
    const cosmos = 'cosmos1qqqsyqcyq5rqwzqfpg9scrgwpugpzysn5jn5y2';
    for (const address of [
      rich.replace('q', 'p'),
      rich.toUpperCase(),
      cosmos,
      'secret1../../../admin',
      `${rich}?x=`,
      '',
    ]) {
      const { isError, text } = await balance.call('query_secret_balance', { address });
      expect([isError, text, heard]).toEqual([true, expect.stringMatching(/^Invalid address. Please provide/), 0]);
    }
  });

  it('believes no amount that is no number (M-34)', async () => {
    const balance = await start('balance', await node(json(200, { balance: { amount: '-1e9' } })));
    expect(await balance.call('query_secret_balance', { address: rich })).toMatchObject({ isError: true });
  });

  it.each([{}, { SECRET_REST_URL: 'file:///etc' }])('does not start with %j', async (env) => {
    await expect(startSample('balance', { env, era: '2025' })).rejects.toThrow();
  });
});
