import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  bindTools,
  compileEvaluator,
  firstSentence,
  loadedTools,
  neededTools,
  noCalls,
  promptHash,
  readingNote,
} from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { BoundTools, Evaluator, ModelTool } from '@sluice/core';
import type { Compilation } from '@sluice/configuration';
import { builtInTools } from '@sluice/packs';
import { toolTypes } from '@sluice/tools';
import { parse } from 'yaml';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const tools = `
tool:
  read_file: { type: read_file, group: [files] }
  write_file: { type: write_file, group: [files] }
  delete_file: { type: delete_file, group: [files] }
  add_todo: { type: add_todo, group: [todo] }
  archive_and_reset: { type: archive_and_reset, group: [todo] }
  time: { type: get_current_time, group: [time], description: 'Tell the time. In any zone.' }
  load_toolset: { type: load_toolset }
policy: { allowed_tools: ['*'], approval: { none: it is a test } }
`;

function compile(text: string, agent = '{}', changes = (file: string): string => file): Compilation {
  return compileConfiguration(parse(changes(text) + `agents: { default: ${agent} }\n`), {
    types: toolTypes(builtInTools),
    offers: [],
    digest: sha256,
    files: { read: () => ({ error: 'there is none' }), cedarProblems: () => [] },
  });
}

function evaluatorOf(agent: string, changes?: (file: string) => string): Evaluator {
  const { configuration, problems } = compile(tools, agent, changes);
  if (configuration === null) throw new Error(formatProblems(problems));
  return compileEvaluator(configuration);
}

function offeredBy(evaluator: Evaluator): readonly ModelTool[] {
  const { offered } = evaluator.evaluate({
    groups: ['*'],
    state: null,
    toolIds: null,
    calls: noCalls,
    connections: [],
  });
  return offered.map(({ id, spec }) => ({
    id,
    description: spec?.description ?? '',
    inputSchema: spec?.inputSchema ?? {},
  }));
}

interface Given {
  readonly shown?: readonly string[];
  readonly history?: readonly { action: string; arguments: string; outcome: string }[];
  readonly changes?: (file: string) => string;
  readonly choice?: string;
}

function bound(agent: string, { shown, history = [], changes, choice }: Given = {}): BoundTools {
  const evaluator = evaluatorOf(agent, changes);
  const toolChoice = choice === undefined ? ({ type: 'auto' } as const) : ({ type: 'tool', id: choice } as const);
  return bindTools(offeredBy(evaluator), { evaluator, history, toolChoice }, shown ?? null);
}

const names = ({ tools: those }: BoundTools): readonly string[] => those.map(({ id }) => id.replace('core__', ''));
const loading = (group: string, outcome = 'ok') => ({
  action: 'load_toolset',
  arguments: JSON.stringify({ group }),
  outcome,
});

describe('the form in which an agent’s tools reach its model', () => {
  it('is the full one where nothing is said of it (D-02)', () => {
    const { tools: those, deferred, note } = bound('{}');
    expect(deferred).toEqual([]);
    expect(note).toBeNull();
    expect(those).toHaveLength(7);
    for (const tool of those) expect(tool.fullSchema).toBeUndefined();
  });

  it('is name, short description and the open schema for a deferred tool (XD-4, D-34, D-48, D-60, D-61, D-71)', () => {
    const { tools: those, deferred, note } = bound('{ description_mode: deferred }');
    expect(deferred).toEqual(['core__delete_file', 'core__archive_and_reset', 'core__time']);
    const file = those.find(({ id }) => id === 'core__delete_file');
    const contract = builtInTools.find(({ type }) => type === 'delete_file');
    expect(file).toMatchObject({
      description: contract?.shortDescription,
      inputSchema: { type: 'object', properties: {} },
      fullSchema: contract?.inputSchema,
    });
    expect(note).toBe(readingNote);
    expect(note).toContain('`tools/<tool_name>.md`');
  });

  it('keeps the five that agents use all the time in full, and in front (XB-20, XB-35, D-63, D-73)', () => {
    expect(names(bound('{ description_mode: deferred }'))).toEqual([
      ...['read_file', 'write_file', 'add_todo'],
      ...['delete_file', 'archive_and_reset', 'time'],
    ]);
    const { deferred } = bound('{ description_mode: deferred, always_full: [time, core__read_file] }');
    expect(deferred).toEqual([
      ...['core__write_file', 'core__delete_file', 'core__add_todo', 'core__archive_and_reset'],
    ]);
  });

  it('is what is most specific: the tool, then the list, then the pack, then the agent (D-64, D-65, D-70)', () => {
    const own = (mode: string) => (file: string) =>
      file.replace('type: time,', '').replace('[time],', `[time], description_mode: ${mode},`);
    expect(bound('{ description_mode: deferred }', { changes: own('full') }).deferred).not.toContain('core__time');
    expect(bound('{}', { changes: own('deferred') }).deferred).toEqual(['core__time']);
    const packs = '{ description_mode: deferred, packs: { workspace: { description_mode: full } } }';
    expect(bound(packs).deferred).toEqual(['core__archive_and_reset', 'core__time']);
    const one = '{ packs: { todo: { description_mode: deferred } } }';
    expect(bound(one).deferred).toEqual(['core__archive_and_reset']);
    const listed = '{ packs: { workspace: { description_mode: deferred } }, always_full: [delete_file] }';
    expect(bound(listed).deferred).toEqual(['core__write_file']);
  });

  it('keeps its schema where the configuration wants that', () => {
    const { tools: those } = bound('{ description_mode: deferred, deferred_schema: full }');
    const file = those.find(({ id }) => id === 'core__delete_file');
    expect(file?.inputSchema['properties']).toHaveProperty('path');
    expect(file?.description).toBe(builtInTools.find(({ type }) => type === 'delete_file')?.shortDescription);
  });

  it('is full where there is no tool that reads files, in the set or after discovery (XB-43)', () => {
    const without = (file: string): string => file.replace(/ {2}read_file.*\n/, '');
    const given = bound('{ description_mode: deferred }', { changes: without });
    expect([given.deferred, given.note]).toEqual([[], null]);
    const shown = ['core__delete_file', 'core__time'];
    expect(bound('{ description_mode: deferred }', { shown }).deferred).toEqual([]);
    const { findings } = compile(tools, '{ description_mode: deferred }', without);
    expect(findings.map(({ kind }) => kind)).toContain('nothing_deferred');
  });

  it('keeps to what discovery chose, which keeps the reader of files (XB-1, XB-22, D-82)', () => {
    const shown = ['core__read_file', 'core__time'];
    const chosen = bound('{ description_mode: deferred }', { shown });
    expect(names(chosen)).toEqual(['read_file', 'time']);
    expect(chosen.deferred).toEqual(['core__time']);
    const evaluator = evaluatorOf('{ description_mode: deferred }');
    const facts = { evaluator, history: [], toolChoice: { type: 'auto' } } as const;
    expect(neededTools(loadedTools(offeredBy(evaluator), facts), facts)).toEqual(['core__read_file']);
  });

  it('is full in turns with few tools, where the configuration says what few are (D-75)', () => {
    expect(bound('{ description_mode: deferred, deferred_above: 6 }').deferred).toEqual([]);
    expect(bound('{ description_mode: deferred, deferred_above: 5 }').deferred).toHaveLength(3);
  });

  it('changes the prompt’s hash as the full schema does (XB-44)', () => {
    const asked = { instructions: '', question: 'q', history: [] };
    const hash = (those: readonly ModelTool[]): string => promptHash({ ...asked, tools: those }, 'm', sha256);
    const short = bound('{ description_mode: deferred }').tools;
    expect(hash(short)).not.toBe(hash(bound('{}').tools));
    const other = short.map((tool) =>
      tool.fullSchema === undefined ? tool : { ...tool, fullSchema: { type: 'object' } },
    );
    expect(hash(other)).not.toBe(hash(short));
  });
});

describe('a deferred group', () => {
  const agent = '{ deferred_groups: { todo: plan the work, time: } }';

  it('is one line of the tool that loads it, and none of its tools', () => {
    const given = bound(agent);
    expect(names(given)).toEqual(['read_file', 'write_file', 'delete_file', 'load_toolset']);
    expect(given.tools.at(-1)?.description).toContain('Groups:\n- todo: plan the work\n- time: time');
    expect(given.deferred).toEqual([]);
  });

  it('brings its tools from the turn after it was loaded, and no other group', () => {
    const given = bound(agent, { history: [loading('todo')] });
    expect(names(given)).toEqual([
      'read_file',
      'write_file',
      'delete_file',
      'add_todo',
      'archive_and_reset',
      'load_toolset',
    ]);
    expect(given.tools.at(-1)?.description).not.toContain('todo');
    expect(names(bound(agent, { history: [loading('todo', 'execution')] }))).not.toContain('add_todo');
  });

  it('needs no loader once all are loaded, unless the request chose it', () => {
    const history = [loading('todo'), loading('time')];
    expect(names(bound(agent, { history }))).not.toContain('load_toolset');
    expect(names(bound(agent, { history, choice: 'core__load_toolset' }))).toContain('load_toolset');
    expect(names(bound(agent, { choice: 'core__time' }))).toContain('time');
  });

  it('is no deferred group for a tool that is in another one as well', () => {
    const changes = (file: string): string => file.replace('group: [time]', 'group: [time, files]');
    expect(names(bound(agent, { changes }))).toContain('time');
  });

  it('is bound as any other where the turn has no tool that loads it', () => {
    const changes = (file: string): string => file.replace("allowed_tools: ['*']", 'allowed_tools: [read_file, time]');
    expect(names(bound(agent, { changes }))).toEqual(['read_file', 'time']);
  });

  it('is refused where no tool could load it, and a group without tools is as well', () => {
    const without = (file: string): string => file.replace(/ {2}load_toolset.*\n/, '');
    expect(compile(tools, agent, without).problems.map(({ path }) => path)).toEqual(['agents.default.deferred_groups']);
    expect(compile(tools, '{ deferred_groups: [tood] }').problems).toMatchObject([
      { write: expect.stringContaining('todo') },
    ]);
  });
});

describe('short descriptions', () => {
  it('stand with every tool type: the author’s, or the first sentence of the long one (D-69)', () => {
    for (const { shortDescription, description } of builtInTools) {
      expect(shortDescription.length).toBeGreaterThan(20);
      expect(shortDescription).not.toBe(description);
    }
    const { configuration } = compile(tools);
    const short = new Map(configuration?.tools.map(({ key, shortDescription }) => [key, shortDescription]));
    expect(short.get('time')).toBe('Tell the time.');
    const own = compile(tools, '{}', (file) => file.replace('[time],', '[time], short_description: When?,'));
    expect(own.configuration?.tools.find(({ key }) => key === 'time')?.shortDescription).toBe('When?');
  });

  it.each([
    ['One sentence. And another.', 'One sentence.'],
    ['Reads v1.2 of e.g. a file. Then more', 'Reads v1.2 of e.g. a file.'],
    ['No end', 'No end'],
    ['Two\n lines. Next', 'Two lines.'],
  ])('are of %j %j', (text, first) => {
    expect(firstSentence(text)).toBe(first);
  });

  it('are cut at a word where the first sentence is long', () => {
    const cut = firstSentence('word '.repeat(100));
    expect(cut.length).toBeLessThan(165);
    expect(cut).toMatch(/word …$/);
  });

  it('are refused where they are none, and so are modes, packs and tools that are not known', () => {
    const paths = (agent: string): readonly string[] => compile(tools, agent).problems.map(({ path }) => path);
    expect(paths('{ description_mode: short }')).toEqual(['agents.default.description_mode']);
    expect(paths('{ packs: { todos: { description_mode: full } } }')).toEqual(['agents.default.packs.todos']);
    expect(paths('{ packs: { todo: { mode: full } } }')).toEqual(['agents.default.packs.todo.mode']);
    expect(paths('{ always_full: [reed_file] }')).toEqual(['agents.default.always_full[0]']);
    expect(paths('{ deferred_schema: none }')).toEqual(['agents.default.deferred_schema']);
  });
});
