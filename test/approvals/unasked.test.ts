import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { compileForCommand } from '../../apps/sluice/src/system/compile-once.js';
import { run as check } from '../../apps/sluice/src/commands/check.js';
import { aboutApproval } from '../../apps/sluice/src/show/configuration.js';
import { inProcess } from '../harness/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-unasked-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const says = 'graph-update can change things and runs without an approval';

it.each([
  ['nothing is written', '', true],
  ['a reason is given', ', approval: { none: it is a test system }', false],
  ['somebody approves', `, approval: { approvers: ['user:ann'] }`, false],
])(
  'an allowed tool that changes things: `check` and the lines at the start say that it runs unasked, and a strict check fails, where %s: %#',
  async (_, approval, unasked) => {
    const file = join(folder, 'sluice.yaml');
    writeFileSync(
      file,
      `tool: { graph-update: { type: graph-update } }\npolicy: { allowed_tools: [graph-update]${approval} }\n`,
    );
    const environment = readEnvironment({ SLUICE_DATA: folder });
    const { code, output } = await inProcess(check, environment, file);
    expect(code).toBe(0);
    expect(output.includes(says)).toBe(unasked);
    expect((await inProcess(check, environment, '--strict', file)).code).toBe(unasked ? 1 : 0);
    const { configuration } = await compileForCommand(file, { environment });
    if (configuration === null) throw new Error('It compiles.');
    expect(aboutApproval(configuration).startsWith(`! ${says}`)).toBe(unasked);
  },
);
