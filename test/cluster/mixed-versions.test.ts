import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Consumer, Producer } from 'kafkajs';
import type { Type } from 'avsc';
import { newKeySet } from '@sluice/identity';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { releases, schemaOf, typeFrom, typeIn } from '../upgrades/released.js';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

/** The last release: the one whose services run beside today’s in an upgrade. */
const release = releases.at(-1) as string;
const sessions = 5;

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [work], state: informed }
policy: { allowed_tools: [now] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

/** What the agent of the former release knows of a Toolset. */
interface FormerToolset {
  readonly requestId: string;
  readonly sessionId: string;
  readonly iteration: number;
  readonly request: { readonly history: readonly unknown[] };
  readonly tools: readonly { readonly id: string }[];
  readonly [name: string]: unknown;
}

/** An upstream system and an agent that know nothing but the schemas of the former release. */
class FormerSystem {
  readonly responses: Record<string, unknown>[] = [];
  private readonly types = new Map<string, { readonly type: Type; readonly id: number }>();

  private constructor(
    private readonly prefix: string,
    private readonly registry: SchemaRegistry,
    private readonly producer: Producer,
    private readonly consumer: Consumer,
  ) {}

  static async start({ prefix, variables }: Cluster): Promise<FormerSystem> {
    const { KAFKA_BROKERS = '', SCHEMA_REGISTRY_URL = '' } = variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING, retry: { retries: 10 } });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    const consumer = kafka.consumer({ groupId: `${prefix}agent` });
    const registry = new SchemaRegistry({ host: SCHEMA_REGISTRY_URL });
    const system = new FormerSystem(prefix, registry, producer, consumer);
    await Promise.all([producer.connect(), consumer.connect()]);
    for (const [topic, record] of [
      ['agent.requests', 'AgentRequest'],
      ['agent.toolsets', 'Toolset'],
      ['agent.tool-calls', 'ToolCall'],
      ['agent.responses', 'AgentResponse'],
    ] as const) {
      // As its services did when they started: the registry must take it beside today's.
      const schema = { type: SchemaType.AVRO, schema: schemaOf(release, record) } as const;
      const subject = `${prefix}${topic}-value`;
      const { id } = await registry.register(schema, { subject, compatibility: COMPATIBILITY.FULL_TRANSITIVE });
      system.types.set(topic, { type: typeIn(release, record), id });
    }
    await consumer.subscribe({ topics: [`${prefix}agent.toolsets`, `${prefix}agent.responses`], fromBeginning: true });
    await consumer.run({ eachMessage: async ({ topic, message }) => system.take(topic, message.value as Buffer) });
    return system;
  }

  async publish(topic: string, key: string, record: object): Promise<void> {
    const { type, id } = this.types.get(topic) as { type: Type; id: number };
    const header = Buffer.alloc(5);
    header.writeInt32BE(id, 1);
    const value = Buffer.concat([header, type.toBuffer(record)]);
    await this.producer.send({ topic: this.prefix + topic, messages: [{ key, value }] });
  }

  async close(): Promise<void> {
    await this.consumer.disconnect();
    await this.producer.disconnect();
  }

  private async take(name: string, value: Buffer): Promise<void> {
    const topic = name.slice(this.prefix.length);
    const { type } = this.types.get(topic) as { type: Type };
    // avsc gives a type's schema back when it is written as JSON.
    const written = JSON.stringify(await this.registry.getSchema(value.readInt32BE(1)));
    const writer = typeFrom(written);
    const record = type.fromBuffer(value.subarray(5), type.createResolver(writer)) as unknown;
    if (topic === 'agent.responses') this.responses.push(record as Record<string, unknown>);
    else await this.turn(record as FormerToolset);
  }

  private async turn(toolset: FormerToolset): Promise<void> {
    const { requestId, sessionId, iteration, request, tools } = toolset;
    const shared = Object.fromEntries(
      ['requestId', 'sessionId', 'request', 'run', 'configVersion', 'state'].map((name) => [name, toolset[name]]),
    );
    if (request.history.length > 0) {
      const { history } = request;
      const ended = {
        kind: 'answer',
        answer: 'It is late.',
        error: null,
        question: 'When?',
        iterations: iteration,
        endedAt: 1,
      };
      return this.publish('agent.responses', sessionId, { ...shared, ...ended, history });
    }
    const call = { toolCallId: `call-${requestId}`, tool: 'core__now', arguments: '{}' };
    const offered = tools.map(({ id }) => id);
    const { groups, grant } = toolset;
    const turn = { ...shared, iteration, thought: 'As I always did', calls: [call], groups, offered, grant };
    return this.publish('agent.tool-calls', sessionId, turn);
  }
}

describe(`services of today with an agent and an upstream system of release ${release}`, () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  beforeAll(async () => {
    model = await scriptedEndpoint([], 5);
    // While an upgrade goes on the keys are still those of the former release, which had none of the agent and of
    // configurations.
    const former = newKeySet(Date.now()).keys.filter(({ role }) => role !== 'agent' && role !== 'config');
    cluster = await openCluster(configuration(model.baseUrl), {}, { keys: former });
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
  });

  it('go through whole runs together: each reads what the other wrote, and every signature holds (G-44)', async () => {
    // The bridge: former agents and executors read tools with their texts alone.
    await Promise.all([cluster.start('filter', { SLUICE_TOOLSETS: 'whole' }), cluster.start('executor')]);
    const former = await FormerSystem.start(cluster);
    try {
      for (let n = 0; n < sessions; n++) {
        const ids = { requestId: `r-${n}`, sessionId: `s-${n}` };
        const asked = {
          question: 'When?',
          state: null,
          group: ['work'],
          history: [],
          maxIterations: null,
          deadline: null,
        };
        await former.publish('agent.requests', ids.sessionId, { ...asked, userId: null, ...ids });
      }
      for (const end = Date.now() + 60_000; former.responses.length < sessions && Date.now() < end;)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(former.responses.map(({ kind, answer }) => [kind, answer])).toEqual(
        Array.from({ length: sessions }, () => ['answer', 'It is late.']),
      );
      const outcomes = former.responses.map(({ history }) =>
        (history as { outcome: string }[]).map((step) => step.outcome),
      );
      expect(outcomes).toEqual(Array.from({ length: sessions }, () => ['ok']));
      expect(await cluster.command('dead-letters', 'list')).toBe('There are no dead letters.\n');
    } finally {
      await former.close();
    }
  });
});
