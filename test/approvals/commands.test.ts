import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';

describe('sluice approvals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-approvals-'));
  const journal = join(folder, 'resets');
  const config = join(folder, 'sluice.yaml');
  const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
  const approvals = (...args: string[]) => sluice(['approvals', ...args], variables).ended;
  let endpoint: ScriptedEndpoint;
  let services: Program;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([calls.reset], 5);
    const written = workflowConfiguration()
      .replace(/^policy:$/m, "policy:\n  approval: { approvers: ['user:ann', 'user:bob'] }")
      .replace('server.mjs"]', `server.mjs", --journal, "${journal}"]`);
    writeFileSync(
      config,
      `${written}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }\n`,
    );
    services = sluice(['start'], variables);
    await services.says('It keeps serving');
  });
  afterAll(async () => {
    services.process.kill('SIGTERM');
    await services.ended;
    await endpoint.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows what waits and decides on it, after a kill -9 of the services in between; `ask` says what to do (M-03, K-67)', async () => {
    expect((await approvals('list')).output).toBe('No call waits for an approval.\n');
    const ask = sluice(['ask', 'Begin anew', '--group', '*', '--state', 'analysis', '--session', 's'], variables);
    await ask.says(
      /waits .*needs an approval by one of user:ann, user:bob until .*\n.*npx sluice approvals approve a-[0-9a-f]{20}/,
    );
    services.process.kill('SIGKILL');
    await services.ended;
    services = sluice(['start'], variables);
    await services.says('It keeps serving');

    const [line] = (await approvals('list', '--json')).output.trim().split('\n');
    const open = JSON.parse(line ?? '') as Record<string, unknown>;
    const id = open['approval_id'] as string;
    expect(open).toMatchObject({ tool: 'mcp__analysis__reset-workflow', arguments: '{}', requested_by: 'user:local' });
    expect((await approvals('list')).output).toContain(`${id}  mcp__analysis__reset-workflow {}`);
    const shown = (await approvals('show', id.slice(0, 6))).output;
    for (const said of [id, 'state_change', open['arguments_hash'], open['request_id'], 'agent.tool-calls 0'])
      expect(shown).toContain(said);
    for (const said of [
      'Begin anew',
      'Reset to initial state',
      'by one of user:ann, user:bob',
      'with the effect state_',
    ])
      expect(shown).toContain(said);

    for (const words of [
      ['approve', ''],
      ['refuse', ''],
      ['show', ''],
    ])
      expect(await approvals(...words)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('Name the approval.'),
      });
    expect((await approvals('approve', 'a-')).errors).toContain('a- is too little to name the approval by');
    const nobody = await approvals('approve', id, '--as', 'user:eve');
    expect([nobody.code, nobody.output]).toEqual([
      1,
      expect.stringContaining('so it was not written. policy.approval'),
    ]);
    const onLog = await sluice(['tail', '--topic', 'agent.approvals', '--from', 'start', '--once'], variables).ended;
    expect(onLog.output).not.toContain('user:eve');
    const decided = await approvals('approve', id, '--as', 'user:ann', '--reason', 'Fine.');
    expect([decided.code, decided.output]).toEqual([0, `✓ ${id}: approve was taken, and the run goes on.\n`]);
    const { code, output } = await ask.ended;
    expect([code, output]).toEqual([0, expect.stringContaining('All is done.')]);
    expect(output).toContain('approve by user:ann');
    expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1);

    const decidedOn = (await approvals('show', id)).output;
    expect(decidedOn).toMatch(/decided +approve by user:ann, .*: Fine\.\n/);
    expect(decidedOn).toMatch(/outcome +reset-workflow ok: /);
    expect(JSON.parse((await approvals('show', id, '--json')).output)).toMatchObject({
      approval: { approval_id: id, arguments: '{}' },
      question: 'Begin anew',
      tool: { description: 'Reset to initial state' },
      decision: { decision: 'approve', decided_by: 'user:ann', reason: 'Fine.' },
      call: { tool: 'reset-workflow', outcome: 'ok' },
      run_ended: null,
    });

    const again = await approvals('refuse', id);
    expect([again.code, again.errors]).toEqual([1, expect.stringContaining(`No call waits for the approval ${id}`)]);
    const tail = await sluice(['tail', '--topic', 'agent.approvals', '--from', 'start', '--once'], variables).ended;
    for (const said of [`waits: npx sluice approvals approve ${id}`, 'user:ann says approve', 'was taken'])
      expect(tail.output).toContain(said);
  });

  it.each([
    [[], 'Say what to do with approvals'],
    [['show'], 'Name the approval'],
    [['approve', 'a-none'], 'No call waits for the approval a-none'],
    [['show', 'a-none'], 'No call asked for the approval a-none'],
    [['approve', 'a', 'b'], 'a is too little to name the approval by'],
  ])('bad words: %j', async (args, said) => {
    const { code, errors } = await approvals(...args);
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
  });
});
