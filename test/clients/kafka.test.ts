import { join } from 'node:path';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { SluiceBus } from '../../packages/client/src/kafka/bus.js';
import type { Received } from '../../packages/client/src/kafka/records.js';
import { openCluster } from '../cluster/cluster.js';
import type { Cluster } from '../cluster/cluster.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { finish } from '../cluster/outside-tools.js';
import { pythonWithClient } from './python-driver.js';

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [read-only], state: informed }
policy: { allowed_tools: [now] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

const environment = await pythonWithClient('check,kafka');
const command = 'command' in environment ? environment.command : '';

describe('the clients over Kafka', () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  let bus: SluiceBus;
  beforeAll(async () => {
    model = await scriptedEndpoint([['core__now', '{}']], (offered) => (offered.length === 0 ? 5_000 : 200));
    cluster = await openCluster(configuration(model.baseUrl));
    const { KAFKA_BROKERS = '', SCHEMA_REGISTRY_URL = '' } = cluster.variables;
    bus = new SluiceBus({
      kafka: new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING }),
      registry: new SchemaRegistry({ host: SCHEMA_REGISTRY_URL }),
      prefix: cluster.prefix,
    });
    await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
  }, startTimeout);
  afterAll(async () => {
    await bus?.close();
    await cluster?.close();
    await model?.close();
  });

  it('TypeScript: asks, and reads the response as a record', async () => {
    const response = await bus.ask(
      { question: 'What time is it?', group: ['read-only'], session_id: 'ts-ask' },
      { signal: AbortSignal.timeout(90_000) },
    );
    expect(response).toMatchObject({ kind: 'answer', answer: 'All is done.', state: 'informed', session_id: 'ts-ask' });
    expect(response.history).toMatchObject([{ action: 'now', outcome: 'ok', state_before: 'undefined' }]);
    expect(response.ended_at).toBeGreaterThan(Date.now() - 600_000);
  });

  it('TypeScript: follows steps and responses from now on, and sees its own run', async () => {
    const records = await bus.follow(['agent.steps', 'agent.responses'], { signal: AbortSignal.timeout(90_000) });
    const { request_id, session_id } = await bus.publish({ question: 'And now?', group: ['read-only'] });
    const seen: Received<'agent.steps' | 'agent.responses'>[] = [];
    for await (const received of records) {
      if (received.key !== session_id) continue;
      seen.push(received);
      if (received.topic === 'agent.responses') break;
    }
    expect(seen.at(-1)).toMatchObject({ topic: 'agent.responses', record: { request_id, kind: 'answer' } });
    expect(await records.next()).toEqual({ done: true, value: undefined });
  });

  it('TypeScript: a group of consumers goes on where it was', async () => {
    const published = await bus.publish({ question: 'Again?', group: ['read-only'] });
    const seen: string[] = [];
    const first = Promise.withResolvers<undefined>();
    const stop = await bus.consume(['agent.responses'], { groupId: 'group' }, ({ record }) => {
      seen.push(record.request_id);
      if (record.request_id === published.request_id) first.resolve(undefined);
    });
    await first.promise;
    await stop();
    const next = await bus.publish({ question: 'Once more?', group: ['read-only'] });
    const second = Promise.withResolvers<undefined>();
    const again: string[] = [];
    const end = await bus.consume(['agent.responses'], { groupId: 'group' }, ({ record }) => {
      again.push(record.request_id);
      if (record.request_id === next.request_id) second.resolve(undefined);
    });
    await second.promise;
    await end();
    expect(seen).toContain(published.request_id);
    expect(again).not.toContain(published.request_id);
  });

  it('TypeScript: cancels a run', async () => {
    const signal = AbortSignal.timeout(90_000);
    const records = await bus.follow(['agent.responses'], { signal });
    // Its model takes five seconds.
    const published = await bus.publish({ question: 'Slowly', group: [] });
    await bus.cancel(published, 'Not needed.');
    for await (const { record } of records) {
      if (record.request_id !== published.request_id) continue;
      expect(record).toMatchObject({ kind: 'error', error: { code: 'cancelled' } });
      break;
    }
  });

  it('TypeScript: stops following when its signal says so', async () => {
    const stop = new AbortController();
    const records = await bus.follow(['agent.requests'], { signal: stop.signal });
    const next = records.next();
    stop.abort(new Error('Enough.'));
    await expect(next).rejects.toThrow('Enough.');
  });

  const title = 'Python: asks, follows, consumes as a group, and cancels';
  const python = async (): Promise<void> => {
    const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, SLUICE_PREFIX } = cluster.variables;
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, KAFKA_BROKERS, SCHEMA_REGISTRY_URL, SLUICE_PREFIX };
    const { code, output, errors } = await finish(command, [join(import.meta.dirname, 'kafka.py')], env, 220_000);
    expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toEqual({
      ask: ['answer', 'All is done.', 'informed', [['now', 'ok', 'undefined']]],
      follow: ['agent.responses', 'agent.steps'],
      consume: [true, false],
      cancel: 'cancelled',
      timeout: expect.stringContaining('See that the services run.'),
    });
  };
  if ('missing' in environment) it.skip(`${title} (skipped: ${environment.missing})`, python);
  else it(title, python);
});
