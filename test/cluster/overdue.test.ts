import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../harness/eventually.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { KafkaReader } from './reader.js';

interface Line {
  readonly timestamp: number;
  readonly record: { readonly request_id: string; readonly error: { readonly code: string } | null };
}

/** What a run has until its deadline, seconds. */
const runSeconds = 4;

describe('runs on Kafka whose time is up while no agent lives', () => {
  let cluster: Cluster;
  let endpoint: ScriptedEndpoint;
  let reader: KafkaReader;
  let filters: readonly Program[];
  beforeAll(async () => {
    endpoint = await scriptedEndpoint([], 10);
    cluster = await openCluster(`
tool: { get_current_time: { type: get_current_time } }
policy: { allowed_tools: [get_current_time] }
limits: { run_seconds: ${runSeconds} }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`);
    reader = await KafkaReader.open(cluster);
    filters = await Promise.all([cluster.start('filter'), cluster.start('filter')]);
  }, 2 * startTimeout);
  afterAll(async () => {
    await reader?.close();
    await cluster?.close();
    await endpoint?.close();
  });

  const on = async (topic: string): Promise<readonly Line[]> =>
    (await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  const ask = (...names: string[]) =>
    reader.publishJson(names.map((name) => ({ question: 'Go', request_id: name, session_id: name })));

  it('end within seconds of their deadlines, once, though two filters look and one is killed meanwhile', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `overdue-${n}`);
    await ask(...names);
    await eventually(
      () => on('agent.toolsets'),
      (toolsets) => toolsets.length === names.length,
    );
    filters[0]?.process.kill('SIGKILL');
    const ends = await eventually(
      () => on('agent.responses'),
      (responses) => responses.length >= names.length,
    );
    const deadline = Math.max(...(await on('agent.toolsets')).map(({ timestamp }) => timestamp)) + runSeconds * 1_000;
    for (const { record, timestamp } of ends) {
      expect(record.error?.code).toBe('deadline_exceeded');
      expect(timestamp - deadline).toBeLessThan(15_000);
    }

    await cluster.start('agent');
    await ask('in-time');
    const all = await eventually(
      () => on('agent.responses'),
      (responses) => responses.some(({ record }) => record.request_id === 'in-time'),
    );
    expect(all.map(({ record }) => record.request_id).sort()).toEqual([...names, 'in-time'].sort());
    expect(all.find(({ record }) => record.request_id === 'in-time')?.record.error).toBeNull();
    expect(await on('agent.dead-letters')).toEqual([]);
  });
});
