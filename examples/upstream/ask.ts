/**
 * Asks Sluice a question over Kafka, prints each step as it comes, then the answer. Ends with 0 for an answer, with 1
 * without.
 *
 * node examples/upstream/ask.ts "What time is it?" read-only        (groups, separated by commas; none means
 * `default`)
 *
 * KAFKA_BROKERS (localhost:9092), SCHEMA_REGISTRY_URL (http://localhost:8081/apis/ccompat/v7), SLUICE_PREFIX (none) and
 * ASK_SECONDS (60) say where and how long; Confluent's own registry is at http://localhost:8081.
 * It needs Node 22.18 or later, kafkajs and @kafkajs/confluent-schema-registry, and nothing of Sluice's own code.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Consumer, EachMessagePayload } from 'kafkajs';

interface AgentStep {
  readonly action: string;
  readonly arguments: string;
  readonly observation: string;
  readonly outcome: string;
  readonly state_before: string;
  readonly state: string;
  readonly iteration: number;
  readonly index: number;
}

interface AgentStepResult {
  readonly steps: readonly AgentStep[];
}

interface AgentResponse {
  readonly kind: 'answer' | 'error';
  readonly answer: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly history: readonly AgentStep[];
}

const {
  KAFKA_BROKERS = 'localhost:9092',
  SCHEMA_REGISTRY_URL = 'http://localhost:8081/apis/ccompat/v7',
  SLUICE_PREFIX: prefix = '',
  ASK_SECONDS = '60',
} = process.env;
const requests = `${prefix}agent.requests`;
const watched = [`${prefix}agent.steps`, `${prefix}agent.responses`];

const kafka = new Kafka({ clientId: 'ask', brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
const registry = new SchemaRegistry({ host: SCHEMA_REGISTRY_URL });

async function ask(question: string, group: readonly string[] | null): Promise<AgentResponse> {
  // Every record of the run has the session as its key. A request_id is taken once, so sending it again asks nothing
  // twice.
  const [session_id, request_id] = [randomUUID(), randomUUID()];
  const consumer = kafka.consumer({ groupId: `${prefix}ask-${session_id}` });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  try {
    await Promise.all([consumer.connect(), producer.connect()]);
    const ends = await endsOf(watched);
    await consumer.subscribe({ topics: watched });
    const schema = await registry.getLatestSchemaId(`${requests}-value`);
    const value = await registry.encode(schema, { question, group, session_id, request_id });
    const response = new Promise<AgentResponse>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      setTimeout(() => reject(new Error(tooLate)), Number(ASK_SECONDS) * 1_000).unref();
      readUntilEnd(consumer, session_id, ends, resolve).catch(reject);
    });
    // W3C Trace Context: give the trace of your own work instead, if there is one.
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
    const sent = producer.send({ topic: requests, messages: [{ key: session_id, value, headers: { traceparent } }] });
    return (await Promise.all([response, sent]))[0];
  } finally {
    await Promise.all([consumer.disconnect(), producer.disconnect()]);
  }
}

const tooLate = `There was no answer within ${ASK_SECONDS} s. See that filter, agent and executor are running under the prefix "${prefix}", or set ASK_SECONDS to wait longer.`;

/**
 * Where the partitions end now. A group that begins at the latest record looks that up later, and could pass over the
 * answer.
 */
async function endsOf(topics: readonly string[]): Promise<{ topic: string; partition: number; offset: string }[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const ends = [];
    for (const topic of topics) ends.push(...(await admin.fetchTopicOffsets(topic)).map((end) => ({ topic, ...end })));
    return ends;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${topics.join(' and ')} cannot be read: ${why}. Set SLUICE_PREFIX to that of the services; they make the topics when they start.`,
      { cause: error },
    );
  } finally {
    await admin.disconnect();
  }
}

/**
 * kafkajs reads committed records only unless told otherwise; a Java consumer must be told:
 * isolation.level=read_committed.
 */
async function readUntilEnd(
  consumer: Consumer,
  session: string,
  from: Awaited<ReturnType<typeof endsOf>>,
  ended: (response: AgentResponse) => void,
): Promise<void> {
  const shown = new Set<string>();
  const show = (steps: readonly AgentStep[]): void => {
    for (const step of steps) {
      const place = `${step.iteration}.${step.index + 1}`;
      if (!shown.has(place)) console.log(lineOf(step, place));
      shown.add(place);
    }
  };
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ topic, message }: EachMessagePayload) => {
      if (message.key?.toString() !== session || message.value === null) return;
      const record: unknown = await registry.decode(message.value);
      if (topic === watched[0]) return show((record as AgentStepResult).steps);
      // Two topics have no order between them: what was not seen yet stands in the response's history.
      show((record as AgentResponse).history);
      ended(record as AgentResponse);
    },
  });
  for (const end of from) consumer.seek(end);
}

function lineOf(step: AgentStep, place: string): string {
  const moved = step.state === step.state_before ? '' : ` [${step.state_before} → ${step.state}]`;
  return `step ${place}: ${step.action} ${step.arguments} → ${step.outcome}: ${step.observation}${moved}`;
}

const [question, groups] = process.argv.slice(2);
try {
  if (question === undefined) throw new Error('Ask something: node ask.ts "What time is it?" read-only');
  const { kind, answer, error } = await ask(question, groups?.split(',') ?? null);
  if (kind !== 'answer') throw new Error(`There is no answer (${error?.code}): ${error?.message}`);
  console.log(`answer: ${answer}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
