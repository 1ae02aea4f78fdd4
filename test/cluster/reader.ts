import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Consumer, Producer } from 'kafkajs';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import type { Cluster } from './cluster.js';

interface Step {
  readonly iteration: number;
  readonly outcome: string;
  readonly reason: string | null;
}

interface Response {
  readonly request_id: string;
  readonly kind: string;
}

/**
 * Reads the topics as an upstream system does: a plain consumer with the registry's client, nothing of Sluice's own
 * code.
 */
export class KafkaReader {
  readonly responses: Response[] = [];
  readonly ended = new Set<string>();
  readonly steps = new Map<string, Step[]>();

  private constructor(
    private readonly prefix: string,
    private readonly producer: Producer,
    private readonly consumer: Consumer,
    private readonly registry: SchemaRegistry,
  ) {}

  static async open(cluster: Cluster): Promise<KafkaReader> {
    const { KAFKA_BROKERS = '', SCHEMA_REGISTRY_URL = '' } = cluster.variables;
    const kafka = new Kafka({
      clientId: 'reader',
      brokers: KAFKA_BROKERS.split(','),
      logLevel: logLevel.NOTHING,
      retry: { retries: 10 },
    });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    const consumer = kafka.consumer({ groupId: `${cluster.prefix}reader` });
    const reader = new KafkaReader(
      cluster.prefix,
      producer,
      consumer,
      new SchemaRegistry({ host: SCHEMA_REGISTRY_URL }),
    );
    await Promise.all([producer.connect(), consumer.connect()]);
    await consumer.subscribe({
      topics: [`${cluster.prefix}agent.steps`, `${cluster.prefix}agent.responses`],
      fromBeginning: true,
    });
    await consumer.run({
      eachMessage: async ({ topic, message }) =>
        reader.take(topic, await reader.registry.decode(message.value as Buffer)),
    });
    return reader;
  }

  /** Publishes AgentRequests as plain JSON, keyed by their session. */
  async publishJson(requests: readonly { readonly session_id: string }[]): Promise<void> {
    const messages = requests.map((request) => ({ key: request.session_id, value: JSON.stringify(request) }));
    await this.producer.send({ topic: `${this.prefix}agent.requests`, messages });
  }

  async until(condition: () => boolean, milliseconds: number): Promise<void> {
    for (const end = Date.now() + milliseconds; !condition();) {
      if (Date.now() > end)
        throw new Error(`Not within ${milliseconds / 1_000} s: ${this.ended.size} runs have ended.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async close(): Promise<void> {
    await this.consumer.disconnect();
    await this.producer.disconnect();
  }

  private take(topic: string, record: unknown): void {
    if (topic.endsWith('agent.responses')) {
      const response = record as Response;
      this.responses.push(response);
      this.ended.add(response.request_id);
      return;
    }
    const { request_id: requestId, steps } = record as { request_id: string; steps: Step[] };
    this.steps.set(requestId, [...(this.steps.get(requestId) ?? []), ...steps]);
  }
}
