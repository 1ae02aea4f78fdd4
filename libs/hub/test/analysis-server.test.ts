import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { schemaProblems } from '@sluice/schemas';
import { ToolUnavailableError } from '@sluice/core';
import type { JsonValue, McpServer } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';
import { until, whatIsThrown } from './waiting.js';

const script = join(import.meta.dirname, '../../../examples/analysis-server/server.mjs');
const folder = mkdtempSync(join(tmpdir(), 'analysis-'));
const hubs: McpHub[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

const rows = [
  { name: 'Austria', area: 83871, capital: 'Vienna', landlocked: true },
  { name: 'France', area: 551695, capital: 'Paris', landlocked: false },
  { name: 'Germany', area: 357114, capital: 'Berlin', landlocked: false },
  { name: 'Italy', area: 301336, capital: 'Rome', landlocked: false },
  { name: 'Liechtenstein', area: 160, capital: 'Vaduz', landlocked: true },
];

function open(server: Pick<McpServer, 'command' | 'args' | 'url'>): { hub: McpHub; changed: string[] } {
  const changed: string[] = [];
  const hub = createMcpHub([{ id: 'analysis', env: [], startMs: 10_000, ...server }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: (id) => changed.push(id),
  });
  hubs.push(hub);
  return { hub, changed };
}

const overStdio = (...args: string[]) => open({ command: process.execPath, args: [script, ...args], url: null });

/** Starts the server on a port (0: any) and gives the address it says it listens on. */
async function listen(port: string): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [script, '--http', port], { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const [line] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
  return { url: /http:\S+/.exec(line)?.[0] ?? '', child };
}

function call(hub: McpHub, tool: string, args: Record<string, JsonValue>, key = 'key'): Promise<JsonValue> {
  return hub.call('analysis', tool, args, {
    signal: new AbortController().signal,
    timeoutMs: 10_000,
    idempotencyKey: key,
    pin: null,
  });
}

const expected = {
  summary: [
    '5 rows.',
    'area: largest France (551,695), smallest Liechtenstein (160), mean 258,835.2, median 301,336.',
    'landlocked: 2 different values (false; true).',
  ].join(' '),
  rows: ['France', 'Germany', 'Italy', 'Austria', 'Liechtenstein'].map((name, at) => ({
    rank: at + 1,
    name,
    area: expect.any(Number),
  })),
  count: 5,
};

describe('the sample analysis server', () => {
  it('offers two tools over stdio, with schemas every provider takes', async () => {
    const [offer] = await overStdio().hub.discover();
    if (offer === undefined || !('tools' in offer)) throw new Error(JSON.stringify(offer));
    expect(offer.tools.map(({ name }) => name)).toEqual(['complex-analysis', 'reset-workflow']);
    for (const { description, inputSchema } of offer.tools) {
      expect(schemaProblems(inputSchema)).toEqual([]);
      expect(description.length).toBeGreaterThan(30);
    }
  });

  it('compares rows in words that can be checked', async () => {
    const result = await call(overStdio().hub, 'complex-analysis', { rows, question: 'How do they compare?' });
    expect(result).toMatchObject(expected);
    expect((result as unknown as { columns: unknown[] }).columns[0]).toEqual({
      name: 'area',
      kind: 'number',
      count: 5,
      min: 160,
      min_of: 'Liechtenstein',
      max: 551695,
      max_of: 'France',
      mean: 258835.2,
      median: 301336,
    });
  });

  it.each<[string, Record<string, JsonValue>[], string]>([
    ['no rows', [], '0 rows.'],
    ['an even number', [{ n: 1 }, { n: 4 }], '2 rows. n: largest row 2 (4), smallest row 1 (1), mean 2.5, median 2.5.'],
    [
      'equal numbers',
      [
        { name: 'a', n: 7 },
        { name: 'b', n: 7 },
      ],
      '2 rows. n: 7 throughout.',
    ],
    ['gaps', [{ name: 'a', n: 7 }, { name: 'b', n: null }, { name: 'c' }], '3 rows. n: 7 throughout.'],
    [
      'mixed columns',
      [
        { name: 'a', n: 7 },
        { name: 'b', n: 'many' },
        { name: 'c', n: 7 },
      ],
      '3 rows. n: 2 different values (7; many).',
    ],
  ])('can say something about %s', async (_what, given, summary) => {
    expect(await call(overStdio().hub, 'complex-analysis', { rows: given })).toMatchObject({ summary });
  });

  it('resets once for each idempotency key', async () => {
    const journal = join(folder, 'effects.log');
    const { hub } = overStdio('--journal', journal);
    for (const key of ['k1', 'k1', 'k2'])
      expect(await call(hub, 'reset-workflow', {}, key)).toEqual({ status: 'reset' });
    expect(readFileSync(journal, 'utf8')).toBe('k1\nk2\n');
  });
});

describe('the sample analysis server over Streamable HTTP', () => {
  const over = (url: string) => open({ command: null, args: [], url });

  it('does the same', async () => {
    const { url } = await listen('0');
    const { hub } = over(url);
    expect((await hub.discover())[0]).toMatchObject({
      tools: [{ name: 'complex-analysis' }, { name: 'reset-workflow' }],
    });
    expect(await call(hub, 'complex-analysis', { rows })).toMatchObject(expected);
  });

  it('may be started again: the next call begins a new session', async () => {
    const { url, child } = await listen('0');
    const { hub } = over(url);
    await call(hub, 'reset-workflow', {});
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The first call may still be sent on a connection that nobody has told of the end: that one is lost.
    await until(async () => (await whatIsThrown(call(hub, 'reset-workflow', {}))) instanceof ToolUnavailableError);
    await listen(new URL(url).port);
    await until(async () => (await call(hub, 'reset-workflow', {}).catch(() => 'not yet')) !== 'not yet');
  });

  it('is called again at once where only the session was lost', async () => {
    const { url, child } = await listen('0');
    const { hub } = over(url);
    await call(hub, 'reset-workflow', {});
    child.kill('SIGKILL');
    await once(child, 'exit');
    await listen(new URL(url).port);
    expect(await call(hub, 'reset-workflow', {})).toEqual({ status: 'reset' });
  });

  it('is missed without being called, and announced when it is back', async () => {
    const { url, child } = await listen('0');
    const { hub, changed } = over(url);
    await hub.discover();
    child.kill('SIGKILL');
    await until(() => hub.status()[0]?.state !== 'ready');
    await listen(new URL(url).port);
    await until(() => changed.length > 0);
    expect(hub.status()[0]?.state).toBe('ready');
  });
});
