import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
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
  let running: Program[];
  let asked = 0;
  beforeAll(async () => {
    endpoint = await scriptedEndpoint(() => void asked++, 10);
    cluster = await openCluster(`
tool: { get_current_time: { type: get_current_time } }
policy: { allowed_tools: [get_current_time] }
limits: { run_seconds: ${runSeconds} }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`);
    reader = await KafkaReader.open(cluster);
    running = await Promise.all([cluster.start('filter'), cluster.start('filter')]);
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
  const stopAll = async (): Promise<void> => {
    for (const { process } of running) process.kill('SIGTERM');
    await Promise.all(running.splice(0).map(({ ended }) => ended));
  };
  const ask = (...names: string[]) =>
    reader.publishJson(names.map((name) => ({ question: 'Go', request_id: name, session_id: name })));

  it('end within seconds of their deadlines, once, though two filters look and one is killed meanwhile', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `overdue-${n}`);
    await ask(...names);
    await eventually(
      () => on('agent.toolsets'),
      (toolsets) => toolsets.length === names.length,
    );
    running[0]?.process.kill('SIGKILL');
    const ends = await eventually(
      () => on('agent.responses'),
      (responses) => responses.length >= names.length,
    );
    const deadline = Math.max(...(await on('agent.toolsets')).map(({ timestamp }) => timestamp)) + runSeconds * 1_000;
    for (const { record, timestamp } of ends) {
      expect(record.error?.code).toBe('deadline_exceeded');
      expect(timestamp - deadline).toBeLessThan(15_000);
    }

    running.push(await cluster.start('agent'));
    await ask('in-time');
    const all = await eventually(
      () => on('agent.responses'),
      (responses) => responses.some(({ record }) => record.request_id === 'in-time'),
    );
    expect(all.map(({ record }) => record.request_id).sort()).toEqual([...names, 'in-time'].sort());
    expect(all.find(({ record }) => record.request_id === 'in-time')?.record.error).toBeNull();
    expect(await on('agent.dead-letters')).toEqual([]);
  });

  it('and others have no second end where the groups are set back to the beginning, and nothing is asked again', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `answered-${n}`);
    await ask(...names);
    const answered = (wanted: readonly string[]) => () =>
      wanted.every((name) => reader.ended.has(name)) ? Promise.resolve(true) : Promise.resolve(false);
    await eventually(answered(names), (all) => all);
    await stopAll();
    const counts = async () =>
      Promise.all(
        ['toolsets', 'tool-calls', 'steps', 'responses', 'dead-letters'].map(
          async (name) => (await on(`agent.${name}`)).length,
        ),
      );
    const [before, askedBefore] = [await counts(), asked];
    const kafka = new Kafka({
      brokers: (cluster.variables['KAFKA_BROKERS'] ?? '').split(','),
      logLevel: logLevel.NOTHING,
    });
    const admin = kafka.admin();
    await admin.connect();
    // As kafka-consumer-groups --reset-offsets --to-earliest does.
    for (const [group, topics] of [
      ['filter', ['agent.requests', 'agent.steps']],
      ['agent', ['agent.toolsets']],
    ] as const)
      for (const topic of topics) {
        const [groupId, named] = [`${cluster.prefix}${group}`, `${cluster.prefix}${topic}`];
        await eventually(
          () => admin.describeGroups([groupId]),
          ({ groups }) => groups.every(({ members }) => members.length === 0),
        );
        await admin.resetOffsets({ groupId, topic: named, earliest: true });
      }
    await admin.disconnect();

    running.push(...(await Promise.all([cluster.start('filter'), cluster.start('agent')])));
    const more = Array.from({ length: 8 }, (_, n) => `behind-${n}`);
    await ask(...more);
    await eventually(answered(more), (all) => all);
    const output = running.map((program) => program.said()).join('');
    await stopAll();
    // A Toolset and an end for each of those behind.
    expect(await counts()).toEqual(before.map((count, n) => (n === 0 || n === 3 ? count + more.length : count)));
    expect(asked - askedBefore).toBe(more.length);
    expect(output).toContain('skipped a record that was handled before');
  });
});
