import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { createModel } from '@sluice/model';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedCall, ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startSystem } from '../harness/system.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';

/** A record as `sluice tail --json` prints it. */
interface Line {
  readonly topic: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Everything that can become of a call, one a turn. */
const script: readonly ScriptedCall[] = [
  calls.query,
  [ids.query, '{"sparql": '],
  ['core__no_such_tool', '{}'],
  [ids.text, '{"prompt":"not allowed"}'],
  [ids.update, '{"add":[{"subject":"Sluice","connectionId":"mine"}]}'],
  calls.update,
  calls.query,
  calls.reset,
];
const outcomes = ['ok', 'invalid_json', 'unavailable', 'policy_denied', 'validation', 'ok', 'policy_denied', 'ok'];

const requests = [
  { request_id: 'everything', group: ['*'] },
  // Its model calls a tool though it is offered none.
  { request_id: 'nothing', group: [], max_iterations: 2 },
].map((request) => ({ ...request, session_id: request.request_id, question: 'Q' }));

/**
 * What is compared: all that was decided and told, without when, without signatures, and of hashes under a key
 * whether they are there.
 */
const volatile = /^(\w+_at|at|deadline|timestamp|grant|signature|record_signature|attempt)$/;
function lasting(name: string, value: unknown): unknown {
  if (volatile.test(name)) return undefined;
  return name === 'result_hash' && typeof value === 'string' ? 'of its own key' : value;
}

/** One process on the embedded log, as a developer has it, and separate processes on Kafka, as an operator has them. */
describe('the same calls by every way of running them', () => {
  let model: ScriptedEndpoint;
  let embedded: readonly Line[];
  let cluster: readonly Line[];
  const settings = () => ({ provider: 'openai-compatible', name: 'scripted', baseUrl: model.baseUrl }) as const;
  const configuration = () =>
    workflowConfiguration({
      allowed: 'knowledge-query, graph-update, complex-analysis, reset-workflow',
      limits: `model: { provider: openai-compatible, name: scripted, base_url: "${model.baseUrl}" }`,
    });

  beforeAll(async () => {
    model = await scriptedEndpoint((turn, offered) => (offered.length === 0 ? calls.query : script[turn]), 10);
    embedded = await onEmbedded();
    cluster = await onKafka();
  }, startTimeout + 120_000);
  afterAll(() => model?.close());

  async function onEmbedded(): Promise<readonly Line[]> {
    const rest = { apiKeyEnv: null, region: null, maxOutputTokens: 256 };
    const asked = await createModel({ ...settings(), ...rest }, { secret: () => undefined });
    const system = await startSystem(configuration(), asked);
    try {
      for (const request of requests) {
        const { session_id: session } = request;
        await system.bus.appendRaw('agent.requests', session, Buffer.from(JSON.stringify(request)), {});
        await system.responseOf(request.request_id);
      }
      return await read(() => sluice(tail, { SLUICE_DATA: system.folder }).ended.then(({ output }) => output));
    } finally {
      await system.close();
    }
  }

  async function onKafka(): Promise<readonly Line[]> {
    const opened = await openCluster(configuration());
    try {
      await Promise.all([opened.start('filter'), opened.start('agent'), opened.start('executor')]);
      const { KAFKA_BROKERS = '' } = opened.variables;
      const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
      const messages = requests.map((request) => ({ key: request.session_id, value: JSON.stringify(request) }));
      await producer.send({ topic: `${opened.prefix}agent.requests`, messages });
      await producer.disconnect();
      return await read(() => opened.command(...tail));
    } finally {
      await opened.close();
    }
  }

  const tail = ['tail', '--from', 'start', '--once', '--json'];
  async function read(command: () => Promise<string>): Promise<readonly Line[]> {
    for (const end = Date.now() + 60_000; ;) {
      const output = await command();
      const lines = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      if (lines.filter(({ topic }) => topic === 'agent.responses').length === requests.length) return lines;
      if (Date.now() > end) throw new Error(`Not every run ended: ${output}`);
    }
  }

  const of = (lines: readonly Line[], topic: string, requestId: string): readonly unknown[] =>
    lines
      .filter((line) => line.topic === topic && line.record['request_id'] === requestId)
      .map(({ record }) => JSON.parse(JSON.stringify(record, lasting)) as unknown);

  it.each(['agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses', 'agent.progress'])(
    'leave the same on %s: one path of policy, redaction and record, in every process (T-25a, T-01a)',
    (topic) => {
      for (const { request_id: id } of requests) {
        const [here, there] = [of(embedded, topic, id), of(cluster, topic, id)];
        expect(here.length).toBeGreaterThan(0);
        expect(there).toEqual(here);
      }
    },
  );

  it('go through every stage that refuses, and each is refused', () => {
    for (const lines of [embedded, cluster])
      expect(of(lines, 'agent.responses', 'everything')).toMatchObject([
        { kind: 'answer', history: outcomes.map((outcome) => ({ outcome })) },
      ]);
  });

  it('are denied everywhere where the run was offered nothing, whatever the model calls (T-25b, T-23b)', () => {
    for (const lines of [embedded, cluster]) {
      const denied = { outcome: 'policy_denied', reason: 'not_eligible_group' };
      expect(of(lines, 'agent.responses', 'nothing')).toMatchObject([
        { error: { code: 'max_iterations' }, history: [denied, denied] },
      ]);
      const told = of(lines, 'agent.progress', 'nothing') as { kind: string }[];
      expect(told.map(({ kind }) => kind)).toEqual(['tool_call_result', 'tool_call_result']);
    }
  });
});
