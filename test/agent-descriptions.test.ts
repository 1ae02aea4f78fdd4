import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withTools } from '@sluice/run';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = `
tool:
  read_file: { type: read_file, group: [files] }
  write_file: { type: write_file, group: [files] }
  delete_file: { type: delete_file, group: [files] }
  add_todo: { type: add_todo, group: [plan] }
  list_todos: { type: list_todos, group: [plan] }
  load_toolset: { type: load_toolset, group: [files] }
agents: { default: { description_mode: deferred, deferred_groups: { plan: plan the work } } }
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

describe('the descriptions that the agent’s model is sent', () => {
  const model = new Scripted([
    ['core__load_toolset', { group: 'nowhere' }],
    ['core__load_toolset', { group: 'plan' }],
    ['core__list_todos', {}],
  ]);
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(configuration, model);
    await system.ask({ requestId: 'loads', group: ['*'], question: 'What is there to do?' });
    await system.responseOf('loads');
  });
  afterAll(() => system.close());

  const shown = (turn: number): readonly string[] =>
    model.requests[turn]?.tools.map(({ id }) => id.replace('core__', '')) ?? [];

  it('are short for deferred tools, with a sentence in the instructions (D-02, D-72, D-86, XD-6)', async () => {
    const [request] = model.requests;
    const file = request?.tools.find(({ id }) => id === 'core__delete_file');
    expect(file?.inputSchema).toEqual({ type: 'object', properties: {} });
    expect(file?.description.length).toBeLessThan(130);
    expect(request?.instructions).toMatch(
      /\n\nBefore using an unfamiliar tool, read its documentation from `tools\/<tool_name>\.md`\.$/,
    );
    const [call] = await system.all('agent.tool-calls');
    expect(call?.record.model?.deferred).toEqual(['core__delete_file']);
    expect(call?.record.model).toMatchObject({ resultTokens: 0, tokenizer: '~o200k' });
    expect(call?.record.model?.definitionTokens).toBeGreaterThan(100);
  });

  it('leave the Toolset as it was: the truth of what may run', async () => {
    const [toolset] = await system.all('agent.toolsets');
    if (toolset === undefined) throw new Error('There is no Toolset.');
    const { record } = toolset;
    const { evaluator } = await system.embedded.runtime.configurations.version(record.configVersion);
    const { tools } = withTools(record, evaluator);
    const file = tools.find(({ id }) => id === 'core__delete_file');
    expect(JSON.parse(file?.inputSchema ?? '{}')).toHaveProperty('properties.path');
    expect(tools).toHaveLength(6);
    expect(record.tools.map(({ id }) => id)).toEqual(tools.map(({ id }) => id));
  });

  it('are short, or held back: a deferred description is sent, a deferred tool is not (XB-21)', async () => {
    const [call] = await system.all('agent.tool-calls');
    expect(call?.record.model?.deferred).toEqual(['core__delete_file']);
    expect(shown(0)).toContain('delete_file');
    for (const held of ['add_todo', 'list_todos']) expect(shown(0)).not.toContain(held);
    // The provider's flag is a third thing, on one wire.
    expect(JSON.stringify(model.requests)).not.toContain('defer_loading');
  });

  it('come with the group from the turn after the model loaded it, which is a step like any other', async () => {
    expect(shown(0)).toEqual(['read_file', 'write_file', 'load_toolset', 'delete_file']);
    expect(shown(1)).toEqual(shown(0));
    expect(shown(2)).toEqual(['read_file', 'write_file', 'add_todo', 'delete_file', 'list_todos']);
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['load_toolset', 'execution'],
      ['load_toolset', 'ok'],
      ['list_todos', 'ok'],
    ]);
    expect(steps[0]?.observation).toContain('The groups are: plan.');
    expect(JSON.parse(steps[1]?.observation ?? '')).toMatchObject({
      group: 'plan',
      total: 2,
      tools: [{ name: 'core__add_todo' }, { name: 'core__list_todos' }],
    });
  });

  it('are counted: definitions, results and the rest (D-32)', async () => {
    const counted = async (part: string) => system.metric('sluice_prompt_tokens_total', { part });
    expect(await counted('definitions')).toBeGreaterThan(400);
    expect(await counted('results')).toBeGreaterThan(20);
    expect(await counted('other')).toBeGreaterThan(100);
  });

  it('are derived again by a replay, hash and all', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.length).toBeGreaterThan(6);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('the page of a deferred tool', () => {
  const model = new Scripted([
    ['core__delete_file', { path: 'a.md' }],
    ['core__read_file', { path: 'tools/README.md' }],
    ['core__read_file', { path: './tools/core__delete_file.md' }],
    ['core__delete_file', { file: 'a.md' }],
    ['core__delete_file', { path: 'a.md' }],
    ['core__delete_file', { path: 'b.md' }],
  ]);
  let system: TestSystem;
  beforeAll(async () => {
    const reading = configuration.replace('description_mode:', 'read_before_use: true, description_mode:');
    system = await startSystem(reading, model);
    await system.ask({ requestId: 'reads', group: ['files'], question: 'Delete it.' });
    await system.responseOf('reads');
  });
  afterAll(() => system.close());
  const steps = async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps);

  it('must be read before the first call where the configuration wants that (D-62)', async () => {
    const [first] = await steps();
    expect(first).toMatchObject({ outcome: 'policy_denied', reason: 'documentation_unread', documentation: 'unread' });
    expect(first?.observation).toContain('read the file tools/delete_file.md, then call it again');
  });

  it('is in the workspace of the run, with the tools of its groups alone (D-03, D-18, D-20, D-35, XB-34)', async () => {
    const [, index, page] = await steps();
    const text = (step?: { observation: string }) => (JSON.parse(step?.observation ?? '') as { text: string }).text;
    expect(text(index)).toContain('- **[delete_file](delete_file.md)** - Delete a file');
    expect(text(index)).not.toContain('add_todo');
    expect(text(page)).toMatch(/^# delete_file\n\n\*\*Category:\*\* workspace\n/);
  });

  it('is named where the arguments do not fit, and counts as read (XD-5, D-74)', async () => {
    const [, , , wrong, right, again] = await steps();
    expect(wrong).toMatchObject({ outcome: 'validation', documentation: 'read' });
    expect(wrong?.observation).toMatch(/ Read tools\/delete_file\.md first\.$/);
    expect(right).toMatchObject({ outcome: 'ok', documentation: 'read' });
    expect(again).toMatchObject({ outcome: 'ok', documentation: null });
  });

  it('leaves no trace in the history, and a replay finds the same', async () => {
    const results = await system.all('agent.steps');
    for (const { record } of results) for (const step of record.next.history) expect(step.documentation).toBeNull();
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('a tool of a group that is still to be loaded, where pages must be read', () => {
  const model = new Scripted([
    ['core__list_todos', {}],
    ['core__read_file', { path: 'tools/list_todos.md' }],
    ['core__list_todos', {}],
    ['core__add_todo', { text: 'One more.' }],
  ]);
  let system: TestSystem;
  beforeAll(async () => {
    const reading = configuration.replace('description_mode:', 'read_before_use: true, description_mode:');
    system = await startSystem(reading, model);
    await system.ask({ requestId: 'guesses', group: ['*'], question: 'What is there to do?' });
    await system.responseOf('guesses');
  });
  afterAll(() => system.close());

  it('is refused until its page has been read, though its model calls it by name (D-62)', async () => {
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ outcome, reason, documentation }) => [outcome, reason, documentation])).toEqual([
      ['policy_denied', 'documentation_unread', 'unread'],
      ['ok', null, null],
      ['ok', null, 'read'],
      ['policy_denied', 'documentation_unread', 'unread'],
    ]);
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
