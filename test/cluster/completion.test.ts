import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [work] }
  finish: { type: mark_complete, group: [work] }
policy: { allowed_tools: [now, finish] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

describe('mark_complete on Kafka', () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  let turns = 0;
  beforeAll(async () => {
    const script = (turn: number): readonly [string, string] => {
      turns++;
      return turn === 0 ? ['core__now', '{}'] : ['core__finish', '{"summary":"It is late."}'];
    };
    model = await scriptedEndpoint(script, 5);
    cluster = await openCluster(configuration(model.baseUrl));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
  });

  it('ends the run with its one answer, which replay finds the same (D-T40, XB-45)', async () => {
    await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
    const answered = await cluster.command('ask', 'What time is it?', '--group', 'work', '--json');
    expect(JSON.parse(answered)).toMatchObject({ kind: 'answer', answer: 'It is late.', iterations: 2, error: null });
    expect(turns).toBe(2);
    const responses = await cluster.command('tail', '--topic', 'agent.responses', '--from', 'start', '--once');
    expect(responses.trim().split('\n')).toHaveLength(1);
    // Throws if a decision comes out otherwise.
    await cluster.command('replay');
  });
});
