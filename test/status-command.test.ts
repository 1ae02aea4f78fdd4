import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { startGateway } from '../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../apps/gateway/src/gateway.module.js';
import { run as status } from '../apps/sluice/src/commands/status.js';
import { attentionOf } from '../apps/sluice/src/status/status.js';
import type { InstallationStatus } from '../apps/sluice/src/status/status.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { sluice } from './harness/program.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

type Read = InstallationStatus & { readonly attention: readonly string[] };

describe('sluice status', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const text = 'tool: { clock: { type: get_current_time } }\npolicy: { allowed_tools: [clock] }\n';
    system = await startSystem(text, new ScriptedModel(inOrder()));
    gateway = await startGateway(system.embedded.runtime);
    await system.ask({ requestId: 'one' });
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const read = async (...args: readonly string[]): Promise<{ code: number; found: Read }> => {
    const environment = readEnvironment({ SLUICE_DATA: system.folder, SLUICE_PORT: '0' });
    const { code, output } = await inProcess(status, environment, '--json', ...args);
    return { code, found: JSON.parse(output) as Read };
  };
  const atGateway = () => read('--url', gateway.url);

  it('says the same at the gateway as from the log, but for what the log does not know', async () => {
    const at = await eventually(atGateway, ({ found: { today, runs } }) => today.runs === 1 && runs.running === 0);
    const from = await eventually(read, ({ found }) => found.roles.every(({ lag }) => lag === 0));
    expect([at.code, from.code]).toEqual([0, 0]);
    expect(at.found).toMatchObject({
      ...{ from: 'gateway', version: expect.stringMatching(/^\d/), attention: [] },
      today: { runs: 1, failures: 0, tokens: { input: 1, output: 1 } },
    });
    expect(at.found.roles.map(({ role, ready }) => [role, ready])).toEqual([
      ...[
        ['filter', true],
        ['agent', true],
        ['executor', true],
        ['audit', true],
      ],
    ]);
    const { config_version: version, runs, approvals, dead_letters: letters, today } = at.found;
    expect(from.found).toMatchObject({
      ...{ from: 'log', version: null, config_version: version, approvals, dead_letters: letters, today },
      runs: { running: runs.running },
    });
  });

  it('ends with 1 once there is a dead letter, and says how to see it', async () => {
    await system.bus.appendRaw('agent.requests', 'k', Buffer.from('no record'));
    const { found } = await eventually(read, ({ code }) => code === 1);
    expect(found.attention).toEqual([
      'A record became a dead letter in the last day. `sluice dead-letters list` shows them.',
    ]);
    const at = await eventually(atGateway, ({ code }) => code === 1);
    expect(at.found.dead_letters.last_day).toBe(1);
  });

  it('shows it again with --watch, until it is stopped', async () => {
    const port = new URL(gateway.url).port;
    const variables = { SLUICE_DATA: system.folder, SLUICE_HTTP_PORT: port };
    const watching = sluice(['status', '--watch', '--json'], variables);
    await watching.says(/\n.*\n/);
    watching.process.kill('SIGINT');
    const { code, output } = await watching.ended;
    expect(code).toBe(1);
    for (const line of output.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ from: 'gateway' });
  });

  it('says in the gateway’s words why it may not ask, and where no gateway is', async () => {
    const SLUICE_LOCAL_SECRET = 'x'.repeat(40);
    const asked = sluice(['status', '--url', gateway.url], { SLUICE_DATA: system.folder, SLUICE_LOCAL_SECRET });
    expect(await asked.ended).toMatchObject({ code: 1, errors: expect.stringContaining('does not say: ') });
    await expect(read('--url', 'http://127.0.0.1:9')).rejects.toThrow('No gateway answers at http://127.0.0.1:9');
  });

  it('a role that does not work, an overdue run, held-back tools and a refused configuration need attention', async () => {
    const { found } = await read();
    const lacking: InstallationStatus = {
      ...found,
      roles: found.roles.map((one, index) => ({ ...one, ready: index > 0, problem: null })),
      runs: { ...found.runs, overdue: 2 },
      dead_letters: { last_day: 0, latest_at: null },
      servers: [{ name: 'files', state: 'ready', held_back: 1 }],
      refused: [{ version: 'c-1', why: 'signature_invalid' }],
    };
    expect(attentionOf(lacking)).toEqual([
      expect.stringContaining('The role filter does not work.'),
      expect.stringContaining('2 runs are behind their deadline'),
      expect.stringContaining('`sluice mcp approve files`'),
      'The configuration c-1 is refused: signature_invalid',
    ]);
  });
});
