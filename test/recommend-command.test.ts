import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Environment } from '@sluice/host';
import type { RecommendedGroup } from '@sluice/discovery';
import { run } from '../apps/sluice/src/commands/recommend.js';
import { inProcess } from './harness/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-recommend-'));
const file = join(folder, 'sluice.yaml');
writeFileSync(
  file,
  `
tool:
  knowledge-query: { type: knowledge-query, description: Query the knowledge graph for entities, group: [read-only, knowledge] }
  graph-update: { type: graph-update, description: Add or modify entities in the knowledge graph, group: [write, knowledge] }
policy: { allowed_tools: ['*'], approval: { none: this is a test } }
`,
);
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const command = (...args: string[]) => inProcess(run, {} as Environment, '--config', file, ...args);

describe('sluice recommend', () => {
  it('names the groups that suit a question, with their tools and words (G-174)', async () => {
    const { code, output } = await command('Add entities to the knowledge graph');
    expect(code).toBe(0);
    expect(output).toMatch(/^write {2}[\d.]+\n {2}graph-update {2}[\d.]+ {2}Add, entities, knowledge, graph\n/);
    expect((await command('Wash the car')).output).toMatch(/^No permitted group has a tool that shares a word/);
  });

  it('stays within what a caller may ask for, and gives JSON', async () => {
    const { output } = await command('--permitted', 'read-only', '--json', 'Add entities to the knowledge graph');
    const { groups, note } = JSON.parse(output) as { readonly groups: readonly RecommendedGroup[]; note: unknown };
    expect(note).toBeNull();
    expect(groups.map(({ name, tools }) => [name, tools.map(({ key }) => key)])).toEqual([
      ['read-only', ['knowledge-query']],
    ]);
  });

  it('says how to ask', async () => {
    await expect(command()).rejects.toThrow('ask one question in quotes');
    await expect(command('Which', 'two')).rejects.toThrow('ask one question in quotes');
    await expect(command(' ')).rejects.toThrow('ask one question in quotes');
  });
});
