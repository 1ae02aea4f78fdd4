import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelRequest } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { builtInTools } from '@sluice/packs';
import { defineTool } from '@sluice/tools';
import type { McpHub } from '@sluice/hub';
import { z } from 'zod';
import { replayed } from './replay/replaying.js';
import { ScriptedModel } from './harness/system.js';
import type { Said } from './harness/system.js';
import { startWithTools } from './harness/with-tools.js';
import type { ToolSystem } from './harness/with-tools.js';

const hub = { connection: () => undefined, state: () => undefined } as unknown as McpHub;
const rows = Array.from({ length: 5_000 }, (_, n) => ({ id: n, name: `row ${n}` }));
const values: Readonly<Record<string, unknown>> = {
  rows: { total: rows.length, rows },
  text: Array.from({ length: 9_000 }, (_, n) => `line ${n + 1}`).join('\n'),
  vast: 'x'.repeat(10_000_000),
};
let effects = 0;
const produce = defineTool({
  type: 'produce',
  description: 'Changes something and says much of it.',
  input: z.object({ what: z.string() }),
  output: z.unknown(),
  effect: 'state_change',
  redaction: { whole: true },
  capabilities: [],
  repeatable: false,
  requiresConnection: false,
  execute: ({ what }) => {
    effects++;
    return Promise.resolve(values[what]);
  },
});

interface Page {
  readonly content: string;
  readonly text?: string;
  readonly items?: readonly object[];
  readonly next: number | { readonly from: number };
  readonly members: { readonly rows: { readonly larger: { readonly path: string; readonly next: number } } };
}

const call = (type: string, args: object): Said => ({ calls: [[`core__${type}`, JSON.stringify(args)]] });

describe('a result that is larger than a record', () => {
  const model = new ScriptedModel(() => ({ answer: 'done' }));
  let system: ToolSystem;
  beforeAll(async () => {
    const configuration = {
      tool: { produce: { type: 'produce', available_in_states: ['*'] }, read_result: { type: 'read_result' } },
      policy: { allowed_tools: ['*'] },
    };
    system = await startWithTools(configuration, { contracts: [produce, ...builtInTools], hub, model });
  });
  afterAll(() => system.close());

  /** Runs the tool, and then what `next` makes of the first page. */
  const run = async (requestId: string, what: string, next: (page: Page) => Said = () => ({ answer: 'done' })) => {
    model.script = ({ history }: ModelRequest) => {
      if (history.length === 0) return call('produce', { what });
      if (history.length > 1) return { answer: 'done' };
      return history[0]?.outcome === 'ok' ? next(JSON.parse(history[0].observation) as Page) : { answer: 'done' };
    };
    const response = await system.ask(requestId);
    expect(response).toMatchObject({ kind: 'answer', answer: 'done' });
    const found = (await system.all(topics.steps)).filter(({ record }) => record.requestId === requestId);
    return { response, steps: found.flatMap(({ record }) => record.steps) };
  };
  const last = ({ steps }: Awaited<ReturnType<typeof run>>) => JSON.parse(steps.at(-1)?.observation ?? '') as Page;

  it('has its first page in the step, with the name of the whole, and is read on by path and item', async () => {
    const read = await run('rows', 'rows', ({ content, members: { rows: listed } }) =>
      call('read_result', { content, path: listed.larger.path, from: listed.larger.next }),
    );
    const [first] = read.steps;
    expect(Buffer.byteLength(first?.observation ?? '')).toBeLessThanOrEqual(32_768);
    expect(first?.content).toMatchObject([{ kind: 'value', type: 'application/json', name: null }]);
    const page = JSON.parse(first?.observation ?? '') as Page;
    expect(page).toMatchObject({ content: first?.content[0]?.hash.slice(0, 16), size: first?.content[0]?.size });
    const from = page.members.rows.larger.next;
    expect(last(read)).toMatchObject({ path: '/rows', from, count: 5_000 });
    expect(last(read).items?.[0]).toEqual(rows[from]);
    expect(read.response.history.every(({ content }) => content.length === 0)).toBe(true);
  });

  it('is read on line by line where it is a text', async () => {
    const read = await run('text', 'text', ({ content, next }) =>
      call('read_result', { content, from: (next as { from: number }).from }),
    );
    const [first] = read.steps.map(({ observation }) => JSON.parse(observation) as Page);
    const { from } = first?.next as { readonly from: number };
    expect(last(read).text?.startsWith(`line ${from}\n`)).toBe(true);
  });

  it('is read by its own run alone, and only what there is', async () => {
    const [of] = (await run('owner', 'rows')).steps;
    const content = of?.content[0]?.hash.slice(0, 16) ?? '';
    // The other run has none of this name: its own content is another one.
    const other = await run('stranger', 'text', () => call('read_result', { content }));
    expect(other.steps.at(-1)).toMatchObject({ outcome: 'execution', reason: 'user_error' });
    expect(other.steps.at(-1)?.observation).toContain('This run has no result of the name');
    const nowhere = await run('nowhere', 'rows', (page) =>
      call('read_result', { content: page.content, path: '/rows/5000' }),
    );
    expect(nowhere.steps.at(-1)?.observation).toBe('There is nothing at "/rows/5000".');
  });

  it('over the limit of content is a failure that says that the call took effect', async () => {
    effects = 0;
    const { steps } = await run('vast', 'vast');
    expect(effects).toBe(1);
    expect(steps).toMatchObject([{ outcome: 'execution', reason: 'result_too_large', content: [] }]);
    expect(steps[0]?.observation).toBe(
      'The result is larger than the limit of 10000000 bytes. The call took effect: do not make it again for its result, and look that up in another way.',
    );
  });

  it('replays by its name, to the byte', async () => {
    const found = await replayed(system.open.runtime.bus, null);
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
