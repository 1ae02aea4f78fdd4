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
  research: { type: agent, group: [ask], timeout_seconds: 120, agent: { group: [work] } }
  act: { type: mcp-tool, group: [work] }
policy: { allowed_tools: [research, act], allowed_agents: [research] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
`;

describe('an agent as a tool, on Kafka', () => {
  let model: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  beforeAll(async () => {
    // Who is offered the agent calls it; the agent acts; then each answers.
    model = await scriptedEndpoint((turn, offered) => {
      if (turn > 0) return undefined;
      return offered.includes('core__research')
        ? ['core__research', '{"question":"Do it"}']
        : ['mcp__effects__act', '{}'];
    }, 5);
    effects = await effectServer(20);
    cluster = await openCluster(configuration(model.baseUrl, effects.url));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await model?.close();
  });

  it('outlives the executor that handed its call over: it acts once, and the run that waits goes on once (K-62)', async () => {
    const [, agent, former] = await Promise.all([
      cluster.start('filter'),
      cluster.start('agent'),
      cluster.start('executor'),
    ]);
    const ask = sluice(['ask', 'Have it done', '--group', 'ask'], cluster.variables);
    await ask.says('runs as an agent of its own');
    former.process.kill('SIGKILL');
    agent.process.kill('SIGKILL');
    await Promise.all([former.ended, agent.ended]);
    await Promise.all([cluster.start('agent'), cluster.start('executor'), cluster.start('executor')]);

    const { code, output } = await ask.ended;
    expect([code, output]).toEqual([0, expect.stringContaining('All is done.')]);
    expect([...effects.done.values()]).toEqual([1]);
    const responses = await cluster.command('tail', '--topic', 'agent.responses', '--from', 'start', '--once');
    expect(responses.trim().split('\n')).toHaveLength(2);
  });
});
