import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = `
tool:
  read_file: { type: read_file, group: [files] }
  write_file: { type: write_file, group: [files] }
  delete_file: { type: delete_file, group: [files] }
  get_current_time: { type: get_current_time, group: [files] }
  list_todos: { type: list_todos, group: [plan] }
  add_todo: { type: add_todo, group: [admin] }
  find: { type: search_tools, group: [search] }
  load: { type: load_toolset, group: [load] }
agents:
  default:
    tool_discovery: { strategy: tool-search, always_keep: [core__get_current_time], max_search_results: 2 }
policy: { allowed_tools: ['*'], approval: { none: it is a test } }
`;
const usage = { inputTokens: 1, outputTokens: 1 };

/** Makes these calls, a turn each, then answers. */
class Scripted implements Model {
  readonly name = 'scripted';
  readonly requests: ModelRequest[] = [];

  constructor(private readonly calls: readonly (readonly [string, object])[]) {}

  turn(request: ModelRequest): Promise<ModelTurn> {
    const [tool, args] = this.calls[request.history.length] ?? [];
    this.requests.push(request);
    if (tool === undefined) return Promise.resolve({ thought: '', calls: [], answer: 'Done.', ...usage });
    const call = { toolCallId: `call-${request.history.length}`, tool, arguments: JSON.stringify(args) };
    return Promise.resolve({ thought: '', calls: [call], answer: null, ...usage });
  }
}

interface Found {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly note: string;
}

function scene(calls: Scripted['calls'], group: readonly string[], changes = (text: string): string => text) {
  const model = new Scripted(calls);
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(changes(configuration), model);
    await system.ask({ requestId: 'searches', group: [...group], question: 'Tidy up, please' });
    await system.responseOf('searches');
  });
  afterAll(() => system.close());
  const steps = async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
  return {
    shown: (turn: number): readonly string[] =>
      model.requests[turn]?.tools.map(({ id }) => id.replace('core__', '')) ?? [],
    steps,
    found: async (step: number): Promise<Found> => JSON.parse((await steps())[step]?.observation ?? '') as Found,
    all: () => system,
  };
}

async function unequal(system: TestSystem): Promise<readonly unknown[]> {
  const decisions = await replayed(system.bus, null);
  expect(decisions.length).toBeGreaterThan(3);
  return decisions.filter(({ outcome }) => outcome.kind !== 'equal');
}

describe('a search for tools by the agent’s model', () => {
  const { shown, steps, found, all } = scene(
    [
      ['core__find', { query: '^core__(write|delete|read)_file$' }],
      ['core__write_file', { path: 'a.md', text: 'A' }],
      ['core__find', { query: '(?=todo) todos' }],
      ['core__find', { query: 'xylophone' }],
      ['core__find', { query: '' }],
    ],
    ['files', 'search', 'plan'],
  );

  it('has the search tool and what is always kept shown at first', () => {
    expect(shown(0)).toEqual(['get_current_time', 'find']);
  });

  it('is a step whose result names what it found, no more than the most', async () => {
    expect((await steps())[0]).toMatchObject({ action: 'find', outcome: 'ok' });
    const { tools, note } = await found(0);
    expect(tools.map(({ name }) => name)).toEqual(['core__read_file', 'core__write_file']);
    for (const { description } of tools) expect(description.length).toBeGreaterThan(10);
    expect(note).toBe('These 2 tools can be called from your next turn on.');
  });

  it('binds what it found from the next turn on, for the rest of the run', () => {
    expect(shown(1)).toEqual(['read_file', 'write_file', 'get_current_time', 'find']);
    expect(shown(2)).toEqual(shown(1));
    expect(shown(5)).toEqual(['read_file', 'write_file', 'get_current_time', 'list_todos', 'find']);
  });

  it('says what to write where the query is no expression that can be run, and finds its words', async () => {
    const { tools, note } = await found(2);
    expect(tools.map(({ name }) => name)).toEqual(['core__list_todos']);
    expect(note).toContain('Write a few words, or a pattern such as "file|directory".');
    expect(note).toMatch(/ This tool can be called from your next turn on\.$/);
  });

  it('finds nothing that the request is not offered, and says so', async () => {
    const listed = (await Promise.all([0, 2, 3].map(found))).flatMap(({ tools }) => tools.map(({ name }) => name));
    expect(listed).not.toContain('core__add_todo');
    expect((await found(3)).tools).toEqual([]);
    expect((await found(3)).note).toMatch(/^No tool matches\. /);
    expect((await steps())[4]).toMatchObject({ action: 'find', outcome: 'validation' });
  });

  it('is derived again by a replay, hash and all', async () => {
    const calls = await all().all('agent.tool-calls');
    expect(calls[1]?.record.model?.shown).toEqual([
      'core__read_file',
      'core__write_file',
      'core__get_current_time',
      'core__find',
    ]);
    expect(await unequal(all())).toEqual([]);
  });
});

describe('a turn that is not offered the search tool', () => {
  const { shown, all } = scene([], ['files']);

  it('shows all tools: none is out of reach', async () => {
    expect(shown(0)).toEqual(['read_file', 'write_file', 'delete_file', 'get_current_time']);
    const decisions = await replayed(all().bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('a search beside a strategy that ranks, with groups on demand', () => {
  const deferred = (text: string): string =>
    text.replace(
      'strategy: tool-search, always_keep: [core__get_current_time]',
      'strategy: ranked, min_tools: 1, max_tools: 1',
    );
  const { shown, found, all } = scene(
    [
      ['core__find', { query: 'todo|delete_file' }],
      ['core__load', { group: 'plan' }],
      ['core__find', { query: 'todo' }],
    ],
    ['files', 'search', 'plan', 'load'],
    (text) => deferred(text).replace('    tool_discovery', '    deferred_groups: [plan]\n    tool_discovery'),
  );

  it('keeps what it found beyond the count, and finds no tool of a group before it is loaded', async () => {
    expect(shown(0)).toContain('find');
    expect(shown(0)).not.toContain('delete_file');
    const names = async (step: number) => (await found(step)).tools.map(({ name }) => name);
    expect(await names(0)).toEqual(['core__delete_file']);
    expect(shown(1)).toContain('delete_file');
    expect(await names(2)).toEqual(['core__list_todos']);
    expect(shown(3)).toEqual(expect.arrayContaining(['delete_file', 'list_todos', 'find']));
    expect(await unequal(all())).toEqual([]);
  });
});
