import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  compileConfiguration,
  pinOf,
  ToolHeldBackError,
  ToolInputError,
  ToolOutcomeLostError,
  ToolUnavailableError,
} from '@sluice/core';
import type { JsonObject, JsonValue, McpServer, OfferedTool } from '@sluice/core';
import { createMcpHub, createToolSource } from '../src/index.js';
import type { McpHub } from '../src/index.js';
import { jsonSchemaInput, jsonSchemaOutput } from '../src/binding/json-schema-input.js';
import { sha256 } from './configured.js';
import { until, whatIsThrown } from './waiting.js';

const folder = join(import.meta.dirname, 'mcp-servers');
const key = 'sk-planted-0815';
const noFiles = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
const hubs: McpHub[] = [];
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.close())));

/** Whoever fetches a remote $ref comes here. */
let fetched = 0;
const elsewhere = createServer((_, response) => {
  fetched++;
  response.end('{}');
});
let elsewhereUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as { port: number }).port}/schema`;
});
afterAll(() => void elsewhere.close());

function server(id: string, script: string, args: string[] = [], startMs = 5_000): McpServer {
  const env = ['HOSTILE_KEY'];
  return { id, command: process.execPath, args: [join(folder, script), ...args], env, url: null, startMs };
}

/** A hub with the hostile server and one that is well. */
function open(fault: string, startMs?: number): { hub: McpHub; changed: string[]; logged: string[] } {
  const [changed, logged]: [string[], string[]] = [[], []];
  const hub = createMcpHub(
    [server('hostile', 'hostile.mjs', [fault, elsewhereUrl], startMs), server('well', 'scripted.mjs')],
    {
      environment: () => ({ PATH: process.env['PATH'] ?? '', HOSTILE_KEY: key }),
      onChange: (id) => changed.push(id),
      log: (id, message) => logged.push(`${id}: ${message}`),
    },
  );
  hubs.push(hub);
  return { hub, changed, logged };
}

function call(
  hub: McpHub,
  tool = 'work',
  changes: { args?: JsonObject; timeoutMs?: number; pin?: string | null } = {},
) {
  const { args = {}, timeoutMs = 2_000, pin = null } = changes;
  const signal = new AbortController().signal;
  return hub.call('hostile', tool, args, { signal, timeoutMs, idempotencyKey: 'k', pin });
}

/** How long the well server takes to answer, at worst, while something else goes on. */
async function slowestNeighbour(hub: McpHub, work: Promise<unknown>): Promise<number> {
  const ask = () =>
    hub.call(
      'well',
      'words',
      {},
      { signal: new AbortController().signal, timeoutMs: 20_000, idempotencyKey: 'k', pin: null },
    );
  await ask();
  let slowest = 0;
  let over = false;
  void work.catch(() => undefined).finally(() => (over = true));
  do {
    const before = performance.now();
    expect(await ask()).toBe('plain words');
    slowest = Math.max(slowest, performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (!over);
  return slowest;
}

async function offered(hub: McpHub): Promise<readonly OfferedTool[]> {
  const [offer] = await hub.discover();
  if (offer === undefined || !('tools' in offer)) throw new Error(JSON.stringify(offer));
  return offer.tools;
}

describe('a hostile server that is called over stdio: the others go on, and it costs a bounded time and memory', () => {
  it.each([
    ['never answers', 'never-answers', ToolOutcomeLostError],
    ['answers after the limit', 'answers-late', ToolOutcomeLostError, 200 as number],
    ['answers with a gigabyte', 'gigabyte', ToolOutcomeLostError],
    ['writes garbage where messages are expected', 'garbage', ToolOutcomeLostError],
    ['writes bytes that are no text', 'binary-garbage', ToolOutcomeLostError],
    ['ends in the middle of a call', 'dies', ToolOutcomeLostError],
    ['ends in the middle of a message', 'dies-in-the-middle', ToolOutcomeLostError],
    ['answers with what is no result', 'wrong-result', ToolOutcomeLostError],
    ['answers with nothing', 'no-result', ToolOutcomeLostError],
    ['floods us with notifications', 'floods-notifications', ToolOutcomeLostError],
    ['floods us with requests and reads no answer', 'floods-requests', ToolOutcomeLostError],
  ])('%s', async (_, fault, kind, timeoutMs = 2_000) => {
    const { hub } = open(fault);
    // Both are started, so that the limit is the call's alone.
    await hub.discover();
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const running = call(hub, 'work', { timeoutMs });
    expect(await slowestNeighbour(hub, running)).toBeLessThan(1_000);
    expect(await whatIsThrown(running)).toBeInstanceOf(kind);
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
  });

  it.each([
    ['answers questions nobody asked', 'answers-others'],
    ['says a hundred times that its tools changed', 'floods-changes'],
    ['fills its error stream', 'floods-errors'],
  ])('%s, and is answered all the same', async (_, fault) => {
    const { hub, changed } = open(fault);
    const running = call(hub, 'work', { timeoutMs: 20_000 });
    expect(await slowestNeighbour(hub, running)).toBeLessThan(1_000);
    expect(await running).toBe('worked');
    // Each word that tools changed has everything compiled anew: nine hundred are told as one, and one more later.
    expect(changed.length).toBeLessThanOrEqual(1);
  });

  it('is cut off when it floods us, with a line that says so, and tried again with growing pauses', async () => {
    const { hub, logged } = open('floods-notifications');
    await whatIsThrown(call(hub));
    expect(logged).toContainEqual(expect.stringMatching(/^hostile: says more than a thousand things a second/));
    await until(() => hub.status()[0]?.state !== 'waiting');
  });

  it('has an answer of its own kind refused, not passed on', async () => {
    const { hub } = open('deep-result');
    const value = await call(hub);
    expect(() => JSON.stringify(value)).toThrow(RangeError); // as it came; the runner refuses it by its depth
    const proto = await call(open('proto-result').hub);
    expect(JSON.stringify(proto)).toBe('{"a":1}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('gets nothing for its own requests: no sampling, no questions to people, no roots, no tools', async () => {
    const { hub } = open('asks');
    expect(await call(hub, 'work', { timeoutMs: 8_000 })).toEqual([-32601, -32601, -32601, -32601]);
  });

  it('never begins: the call is unavailable within the start time', async () => {
    const { hub } = open('never-begins', 500);
    expect(await whatIsThrown(call(hub))).toBeInstanceOf(ToolUnavailableError);
  });

  it('floods us before it has begun: cut off', async () => {
    const { hub, logged } = open('floods-at-once');
    const running = call(hub);
    expect(await slowestNeighbour(hub, running)).toBeLessThan(1_000);
    expect(await whatIsThrown(running)).toBeInstanceOf(ToolUnavailableError);
    expect(logged.join()).toMatch(/was cut off/);
  });
});

describe('what a hostile server offers', () => {
  it.each([
    ['pages that go round', 'pages-that-go-round', /does not come to an end/],
    ['pages without an end', 'pages-without-end', /does not come to an end/],
    ['100,000 tools in pages', 'thousands', /more than 1000 tools/],
    ['100,000 tools at once', 'thousands-at-once', /more than 1000 tools|larger|closed/],
    ['no list at all', 'malformed-list', /could not be asked/],
  ])('%s: refused with its reason, in bounded time, and the others are there', async (_, fault, reason) => {
    const { hub } = open(fault);
    const started = performance.now();
    const [hostile, well] = await hub.discover();
    expect(performance.now() - started).toBeLessThan(6_000);
    expect(hostile).toMatchObject({ error: expect.stringMatching(reason) });
    expect(well).toHaveProperty('tools');
  });

  it('names and texts of every kind: two of one name are both there, none is lost, none steers a terminal', async () => {
    const tools = await offered(open('names').hub);
    expect(tools.map(({ name }) => name.slice(0, 12))).toEqual(
      ['work', 'twice', 'twice', 'bell\u0007\u001b[31m'.slice(0, 12), 'xxxxxxxxxxxx', 'long-words', ''],
    ); // prettier-ignore
    expect(tools[3]?.description).toBe('Red\uFFFD[31m and \uFFFDreversed');
    const bindings = {
      work: 'work',
      twice: 'twice',
      bell: 'bell\u0007\u001b[31m',
      long: 'x'.repeat(10_000),
      words: 'long-words',
    };
    const file = {
      tool: Object.fromEntries(Object.keys(bindings).map((name) => [name, { type: 'mcp-tool' }])),
      policy: { allowed_tools: Object.keys(bindings) },
      mcp: {
        servers: { hostile: { command: 'node' } },
        tools: Object.fromEntries(
          Object.entries(bindings).map(([id, tool]) => [id, { server: 'hostile', tool, redaction: 'whole' }]),
        ),
      },
    };
    const { configuration, problems, findings } = compileConfiguration(file, {
      types: [],
      offers: [{ server: 'hostile', tools }],
      digest: sha256,
      files: noFiles,
    });
    expect(problems).toEqual([]);
    expect(configuration?.tools.map(({ id, spec }) => [id.slice(0, 30), spec !== null])).toEqual([
      ['mcp__hostile__work', true],
      ['mcp__hostile__twice', false],
      ['mcp__hostile__bell___31m', true],
      ['mcp__hostile__xxxxxxxxxxxxxxxx', false],
      ['mcp__hostile__long-words', false],
    ]);
    const said = findings.map(({ message }) => message).join('\n');
    expect(said).toMatch(/offers 2 tools named "twice"/);
    expect(said).toMatch(/64 is the most that models take/);
    expect(said).toMatch(/description has 20000 characters/);
    // eslint-disable-next-line no-control-regex -- that is what is looked for
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it('schemas of every kind: each bad one is withheld with its reason, and none fetches anything (T-10d, T-26b3)', async () => {
    const tools = await offered(open('schemas').hub);
    const names = tools.map(({ name }) => name);
    const { configuration } = compileConfiguration(
      {
        tool: Object.fromEntries(names.map((name) => [name, { type: 'mcp-tool' }])),
        policy: { allowed_tools: names },
        mcp: {
          servers: { hostile: { command: 'node' } },
          tools: Object.fromEntries(names.map((tool) => [tool, { server: 'hostile', tool, redaction: 'whole' }])),
        },
      },
      { types: [], offers: [{ server: 'hostile', tools }], digest: sha256, files: noFiles },
    );
    const reasons = Object.fromEntries((configuration?.tools ?? []).map((tool) => [tool.key, tool.unavailable]));
    expect(reasons).toEqual({
      'no-schema': expect.stringMatching(/must have `"type": "object"`/),
      'not-an-object': expect.stringMatching(/must have `"type": "object"`/),
      'huge-schema': expect.stringMatching(/more than 65536 bytes/),
      'deep-schema': expect.stringMatching(/deeper than 64 levels/),
      'local-ref': expect.stringMatching(/uses `\$ref` at \/properties\/a/),
      'remote-ref': expect.stringMatching(/uses `\$ref` at \/properties\/a/),
      'bad-type': null,
      'bad-pattern': null,
      backtracking: null,
      prototype: null,
      'long-enum': null,
    });

    const check = (name: string, args: JsonValue): JsonValue =>
      jsonSchemaInput(tools.find((tool) => tool.name === name)?.inputSchema as JsonObject)(args);
    for (const name of ['bad-type', 'bad-pattern', 'remote-ref', 'local-ref'])
      expect(() => check(name, name === 'local-ref' ? { a: 7 } : {})).toThrow(ToolInputError);
    expect(fetched).toBe(0);

    // An honest text fits; thirty that would each take an hour are given up together.
    expect(check('backtracking', { a: ['aaaa'] })).toEqual({ a: ['aaaa'] });
    const started = performance.now();
    expect(() => check('backtracking', { a: Array.from({ length: 30 }, () => `${'a'.repeat(60)}!`) })).toThrow(
      ToolInputError,
    );
    expect(performance.now() - started).toBeLessThan(1_000);

    check('prototype', {});
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();

    const long = (() => {
      try {
        check('long-enum', { a: Array.from({ length: 4_000 }, () => 1) });
      } catch (error) {
        return error as ToolInputError;
      }
      return undefined;
    })();
    expect(long?.problems).toHaveLength(21);
    expect(long?.message.length).toBeLessThan(20_000);
  });

  it('structured results that break their own promise are refused; remote promises are not fetched (M-103)', async () => {
    const { hub } = open('outputs');
    const schemaOf = Object.fromEntries((await offered(hub)).map(({ name, outputSchema }) => [name, outputSchema]));
    const judged = async (tool: string): Promise<JsonValue> =>
      jsonSchemaOutput(schemaOf[tool] as JsonObject)(await call(hub, tool));
    expect(await judged('keeps')).toEqual({ n: 7 });
    await expect(judged('lies')).rejects.toThrow(/does not fit/);
    await expect(judged('recurses')).rejects.toThrow(/does not fit/);
    expect(() => jsonSchemaOutput(schemaOf['fetches'] as JsonObject)({})).toThrow();
    expect(fetched).toBe(0);
  });
});

describe('an MCP server’s tools before anybody allowed them (T-21a, T-21b, T-21c, M-58)', () => {
  const compiled = (allowed: string[], tools: readonly OfferedTool[]) =>
    compileConfiguration(
      {
        tool: { work: { type: 'mcp-tool' }, secret: { type: 'mcp-tool' } },
        policy: { allowed_tools: allowed },
        mcp: {
          servers: { hostile: { command: 'node' } },
          tools: {
            work: { server: 'hostile', tool: 'work', redaction: 'whole' },
            secret: { server: 'hostile', tool: 'secret', redaction: 'whole' },
          },
        },
      },
      { types: [], offers: [{ server: 'hostile', tools }], digest: sha256, files: noFiles },
    ).configuration;

  it('are none that can be called: neither the server nor `*` allows one, only its own name does (K-57)', async () => {
    const { hub } = open('none');
    const tools = await offered(hub);
    const callable = (allowed: string[]): string[] => {
      const configuration = compiled(allowed, tools);
      if (configuration === null) return [];
      const source = createToolSource(configuration, { contracts: [], mcp: hub });
      return ['work', 'secret', 'result'].filter((name) => source.getBoundTool(`mcp__hostile__${name}`) !== undefined);
    };
    expect(callable([])).toEqual([]);
    expect(callable(['*'])).toEqual([]);
    expect(callable(['hostile'])).toEqual([]);
    expect(callable(['work'])).toEqual(['work']);
  });

  it('have the effect of the worst kind, whatever they say of themselves, until the configuration says otherwise', () => {
    const claims = {
      name: 'work',
      description: '',
      inputSchema: { type: 'object' },
      outputSchema: null,
      annotations: { readOnlyHint: true },
    };
    expect(compiled(['work'], [claims])?.tools[0]?.spec?.effect).toBe('external_side_effect');
  });
});

describe('a tool that changes after it was allowed (T-21c, K-60)', () => {
  const pinned = async (hub: McpHub) => {
    const tool = (await offered(hub)).find(({ name }) => name === 'work');
    return pinOf(tool as OfferedTool, sha256);
  };

  it('is held back at once when its server says so, reported once, and its neighbours are not', async () => {
    const { hub, changed, logged } = open('changes');
    const pin = await pinned(hub);
    expect(await call(hub, 'work', { pin })).toBe('worked');
    await call(hub, 'change');
    await until(() => changed.length > 0);
    for (let time = 0; time < 2; time++) {
      const error = await whatIsThrown(call(hub, 'work', { pin }));
      expect(error).toBeInstanceOf(ToolHeldBackError);
      expect(error).toBeInstanceOf(ToolUnavailableError);
    }
    expect(logged.filter((line) => line.includes('held back'))).toEqual([expect.stringMatching(/"work"/)]);
    expect(await call(hub, 'change')).toBe('changed');
  });

  it('is held back when it comes back as another after a loss, even if nobody said a word', async () => {
    const { hub } = open('names');
    const other = await call(hub, 'work', { pin: '0'.repeat(64) }).catch((error: unknown) => error);
    expect(other).toBeInstanceOf(ToolHeldBackError);
  });

  it('is held back where two have its name', async () => {
    const { hub } = open('names');
    const [, twice] = await offered(hub);
    expect(await whatIsThrown(call(hub, 'twice', { pin: pinOf(twice as OfferedTool, sha256) }))).toBeInstanceOf(
      ToolHeldBackError,
    );
  });
});

describe('the key that a server was given (E-09)', () => {
  it('is hidden in what it says when it does not start', async () => {
    const { hub, logged } = open('prints-its-key');
    const [offer] = await hub.discover();
    expect(offer).toMatchObject({ error: expect.stringContaining('[hidden] is not valid') });
    const error = (await whatIsThrown(call(hub))) as Error;
    const everything = JSON.stringify([offer, logged, hub.status(), error.message, (error.cause as Error).message]);
    expect(everything).not.toContain(key);
    expect(everything).not.toContain('\\u001b');
  });

  it('is hidden in its errors and its results', async () => {
    const { hub } = open('none');
    expect(((await whatIsThrown(call(hub, 'secret'))) as Error).message).toBe('My key is [hidden]');
    expect(await call(hub, 'result')).toEqual({ key: '[hidden]', list: ['[hidden]'] });
  });
});
