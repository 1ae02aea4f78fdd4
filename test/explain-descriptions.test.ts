import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Environment } from '@sluice/host';
import { run } from '../apps/sluice/src/commands/explain.js';
import { inProcess } from './harness/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-explain-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function explained(agent: string, request: object, more = ''): Promise<Readonly<Record<string, unknown>>> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(
    file,
    `
tool:
  read_file: { type: read_file, group: [files] }
  delete_file: { type: delete_file, group: [files] }
  add_todo: { type: add_todo, group: [plan] }
  list_todos: { type: list_todos, group: [plan] }
  load_toolset: { type: load_toolset, group: [files] }
agents: { default: ${agent} }
policy: { allowed_tools: ['*'], approval: { none: this is a test } }
${more}`,
  );
  const input = Readable.from([`${JSON.stringify(request)}\n`]);
  const { output } = await inProcess(
    (args, surroundings) => run(args, { ...surroundings, input }),
    {} as Environment,
    ...['--config', file],
  );
  return JSON.parse(output) as Readonly<Record<string, unknown>>;
}

const agent = '{ description_mode: deferred, deferred_groups: { plan: plan the work } }';

describe('sluice explain, where descriptions are deferred', () => {
  it('says which tools are sent short, and which come with their group', async () => {
    const said = await explained(agent, { group: ['*'] });
    expect(said['permitted']).toContain('add_todo');
    expect(said['deferred']).toEqual(['delete_file']);
    expect(said['deferred_groups']).toEqual({ plan: ['add_todo', 'list_todos'] });
  });

  it('goes by the tool that is chosen, which is not held back', async () => {
    const said = await explained(agent, { group: ['*'], tool_choice: 'list_todos' });
    expect(said['tool_choice']).toBe('core__list_todos');
    expect(said['deferred']).toEqual(['delete_file', 'list_todos']);
    expect(said['deferred_groups']).toEqual({ plan: ['add_todo'] });
  });

  it('says nothing of it where a request is refused, or nothing is deferred', async () => {
    expect(await explained(agent, { group: ['*'], tool_choice: 'nope' })).not.toHaveProperty('deferred');
    expect(await explained('{}', { group: ['*'] })).not.toHaveProperty('deferred');
  });
});

describe('sluice explain', () => {
  const rules = `
rules:
  not now: { tools: [add_todo], when: { states: [another] } }
  not here: { tools: [delete_file, list_todos], unless: { states: [undefined] } }
`;

  it('names the rules that close a tool, and lists what is really offered', async () => {
    const said = await explained('{}', { group: ['*'] }, rules);
    expect(said['eligible']).toContain('add_todo');
    expect(said['closed']).toEqual({ add_todo: ['not now'], delete_file: ['not here'], list_todos: ['not here'] });
    expect(said['offered']).toEqual(['read_file', 'load_toolset']);
  });

  it('refuses a field that no request has, and says which was meant', async () => {
    const said = await explained('{}', { grup: ['*'] });
    expect(said).toEqual({
      error: 'This line is no AgentRequest: the field "grup" is unknown; write a known name (did you mean `group`?).',
    });
  });
});
