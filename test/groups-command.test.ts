import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { ListedGroup } from '@sluice/core';
import { run } from '../apps/sluice/src/commands/groups.js';
import { inProcess } from './harness/in-process.js';
import type { Environment } from '@sluice/host';

const folder = mkdtempSync(join(tmpdir(), 'sluice-groups-'));
const file = join(folder, 'sluice.yaml');
writeFileSync(
  file,
  `
tool:
  knowledge-query: { type: knowledge-query, group: [read-only], state: analysis, available_in_states: [undefined] }
  text-completion: { type: text-completion, group: [read-only, text], available_in_states: [analysis], state: undefined }
  graph-update: { type: graph-update, group: [admin] }
policy: { allowed_tools: ['*'], approval: { none: this is a test } }
`,
);
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const command = (...args: string[]) => inProcess(run, {} as Environment, '--config', file, ...args);

describe('sluice groups', () => {
  it('lists each group with its tools, and where they lead', async () => {
    const { code, output } = await command();
    expect(code).toBe(0);
    expect(output).toMatch(/^admin\n {2}graph-update {2}\(state_change, in every state\)\n/);
    expect(output).toMatch(/\nread-only\n {2}knowledge-query {2}\(read_only, in undefined, leads to analysis\)\n/);
  });

  it('lists what a caller may ask for, as JSON', async () => {
    const { output } = await command('--permitted', 'read-only', '--json');
    const { groups } = JSON.parse(output) as { readonly groups: readonly ListedGroup[] };
    expect(groups.map(({ name, tools }) => [name, tools.map(({ groups: tags }) => tags)])).toEqual([
      ['read-only', [['read-only'], ['read-only']]],
    ]);
  });

  it('draws the states, and says how to', async () => {
    const { output } = await command('--states', '--mermaid');
    expect(output).toMatch(/^stateDiagram-v2\n {2}state "undefined" as s0\n/);
    expect((await command('--states')).output).toMatch(/^undefined\n {2}knowledge-query → analysis\n/);
    await expect(command('--mermaid')).rejects.toThrow('Give --mermaid with --states');
  });
});
