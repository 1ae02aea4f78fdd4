import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sluice } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { effectServer } from './effect-server.js';
import type { EffectServer } from './effect-server.js';

const configuration = (model: string, effects: string): string => `
tool:
  now: { type: get_current_time, group: [work] }
  act: { type: mcp-tool, group: [work] }
policy:
  allowed_tools: [now, act]
  approval: { approvers: ['user:ann', 'user:bob'] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
`;

describe('a call that waits for an approval, on Kafka', () => {
  let model: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  beforeAll(async () => {
    model = await scriptedEndpoint([['mcp__effects__act', '{}']], 5);
    effects = await effectServer(20);
    cluster = await openCluster(configuration(model.baseUrl, effects.url));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await model?.close();
  });

  it('outlives the executor that parked it; of two deciders one counts, and it is done once (K-55, K-67)', async () => {
    const [, , former] = await Promise.all([
      cluster.start('filter'),
      cluster.start('agent'),
      cluster.start('executor'),
    ]);
    const ask = sluice(['ask', 'Do it', '--group', 'work'], cluster.variables);
    await ask.says('needs an approval');
    former.process.kill('SIGKILL');
    await former.ended;
    await Promise.all([cluster.start('executor'), cluster.start('executor')]);

    const open = JSON.parse(await cluster.command('approvals', 'list', '--json')) as { approval_id: string };
    expect(effects.done.size).toBe(0);
    const decisions = await Promise.all(
      ['user:ann', 'user:bob'].map(
        (name) => sluice(['approvals', 'approve', open.approval_id, '--as', name], cluster.variables).ended,
      ),
    );
    expect(decisions.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    const said = decisions.map(({ output, errors }) => output + errors).join('');
    expect(said).toMatch(/was first|Another decision came first|It was decided before|No call waits for the approval/);
    const { code, output } = await ask.ended;
    expect([code, output]).toEqual([0, expect.stringContaining('All is done.')]);
    expect([...effects.done.values()]).toEqual([1]);
    const responses = await cluster.command('tail', '--topic', 'agent.responses', '--from', 'start', '--once');
    expect(responses.trim().split('\n')).toHaveLength(1);
    expect(await cluster.command('approvals', 'list')).toBe('No call waits for an approval.\n');
  });
});
