import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { signers } from '@sluice/core';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const mode = (file: string): number => statSync(file).mode & 0o777;

describe('the keys of the embedded default', () => {
  it('are made on first run for their owner alone, and are the same after a restart (M-91)', async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.query] }));
    const first = await startSystem(workflowConfiguration(), model);
    const file = join(first.folder, 'keys.json');
    const made = readFileSync(file, 'utf8');
    expect(mode(file)).toBe(0o600);
    const second = await first.restart();
    try {
      expect(readFileSync(file, 'utf8')).toBe(made);
      expect(await second.ask({ group: ['read-only'] })).toMatchObject({ kind: 'answer', iterations: 2 });
      const kid = (token: string | null | undefined): string =>
        (JSON.parse(Buffer.from(token?.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
      const [toolset] = await second.all('agent.toolsets');
      const [steps] = await second.all('agent.steps');
      expect(made).toContain(`"${kid(toolset?.record.grant)}"`);
      expect(made).toContain(`"${kid(steps?.record.signature)}"`);
    } finally {
      await second.close();
    }
  });
});

describe('sluice keys', () => {
  const file = join(folder, 'made/keys.json');
  const run = (...args: string[]) => sluice(['keys', ...args], { SLUICE_DATA: folder, SLUICE_KEYS_FILE: file }).ended;
  const statuses = (output: string): string[] =>
    [...output.matchAll(/^(filter|agent|executor|call|audit|config)-[0-9a-f]{12} +(\w+)/gm)].map(
      (found) => `${found[1]} ${found[2]}`,
    );
  const privateParts = (): string[] =>
    [...readFileSync(file, 'utf8').matchAll(/"d": "([^"]+)"/g)].map((d) => d[1] ?? '');

  it('new makes a file for its owner alone, shows no private key, and never writes over one', async () => {
    const { code, output } = await run('new');
    expect(code).toBe(0);
    const made = signers.flatMap((role) => [`${role} signing`, `${role} next`]);
    expect(statuses(output)).toEqual(made);
    expect(mode(file)).toBe(0o600);
    // Two for each that signs, and two for each that credentials are sealed to.
    expect(privateParts()).toHaveLength(18);
    for (const d of privateParts()) expect(output).not.toContain(d);
    const again = await run('new');
    expect(again.code).toBe(1);
    expect(again.errors).toContain('is there already. Rotate its keys with `sluice keys rotate`');
  });

  it('export gives a role all public keys and its own private ones', async () => {
    const all = privateParts();
    for (const [role, count] of [
      ['filter', 2],
      // Those for calls are the executor’s, too.
      ['executor', 4],
      ['audit', 2],
      ['agent', 2],
      ['config', 2],
      ['auditor', 0],
      ['gateway', 0],
      ['proxy', 0],
      ['notifier', 0],
    ] as const) {
      const { code, output } = await run('export', role);
      expect(code).toBe(0);
      const { keys } = JSON.parse(output) as { keys: { role: string; d?: string }[] };
      expect(keys).toHaveLength(12);
      const owned = keys.filter(({ d }) => d !== undefined);
      const own = Array.from({ length: count }, (_, at) => (at < 2 ? role : 'call'));
      expect(owned.map((key) => key.role)).toEqual(own);
      for (const { d } of owned) expect(all).toContain(d);
    }
    expect((await run('export', 'upstream')).errors).toContain(
      'Name the role: filter, agent, executor, audit, config, auditor, gateway, proxy, mcp, notifier.',
    );
  });

  it('rotate moves every key one on, and list shows it (M-92)', async () => {
    const before = privateParts();
    expect((await run('rotate')).output).toContain('Restart the processes');
    const { output } = await run('list');
    const every = signers.flatMap((role) => ['next', 'signing', 'verifying'].map((status) => `${role} ${status}`));
    expect(statuses(output).sort()).toEqual(every.sort());
    expect(mode(file)).toBe(0o600);
    // What signs now, and for sealing the former key too, since what is sealed to it is still to be opened.
    expect(privateParts().filter((d) => before.includes(d))).toHaveLength(12);
  });

  it('says what is wrong with a file that holds none', async () => {
    const bad = join(folder, 'bad.json');
    writeFileSync(bad, '{}');
    expect(await run('list', bad)).toMatchObject({ code: 1, errors: expect.stringContaining('has no list "keys"') });
    const absent = await run('rotate', join(folder, 'absent.json'));
    expect(absent.errors).toContain('is not there. Make it with `sluice keys new`');
  });
});

describe('a role without its private key', () => {
  it('refuses to start with a sentence that says what to give it', async () => {
    const variables = { SLUICE_DATA: join(folder, 'data') };
    expect((await sluice(['keys', 'new'], variables).ended).code).toBe(0);
    const { output: ofAgent } = await sluice(['keys', 'export', 'agent'], variables).ended;
    for (const role of ['filter', 'executor', 'audit']) {
      const { code, errors } = await sluice(['serve', '--role', role], { ...variables, SLUICE_KEYS: ofAgent }).ended;
      expect(code).toBe(1);
      expect(errors).toContain(`have no private key of the ${role}. Give it those of \`sluice keys export ${role}\`.`);
    }
  });
});
