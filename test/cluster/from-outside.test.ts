import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import type { EachMessagePayload } from 'kafkajs';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { eventually } from '../harness/eventually.js';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { findPython, findShellTools, finish } from './outside-tools.js';
import type { Finished, Tool } from './outside-tools.js';

const script = [
  ['core__now', '{}'],
  ['core__now', '{"timezone":"Asia/Tokyo"}'],
] as const;

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [read-only], state: informed }
policy: { allowed_tools: [now] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

const question = 'What time is it? Say "it\'s\\so".';

const node: Tool = { command: process.execPath, variables: {} };
const python = await findPython();
const shell = await findShellTools(python);
const examples = {
  'ask.ts': node,
  'ask.py': python,
  'ask.sh': shell,
} as const;
type Example = keyof typeof examples;

/** A test of an example; it is skipped only where its tool cannot be had, and then its title says why. */
function test(example: Example, behaviour: string, body: () => Promise<void>): void {
  const tool = examples[example];
  if ('missing' in tool) it.skip(`${example} ${behaviour} (skipped: ${tool.missing})`, body);
  else it(`${example} ${behaviour}`, body, 90_000);
}

describe('a system outside of Sluice, with a process for each service on Kafka', () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  /** What ran while the services did, so that its request has certainly been published; and what ran before. */
  const answered: Example[] = [];
  const unanswered: Example[] = [];
  let serving = false;
  beforeAll(async () => {
    model = await scriptedEndpoint(script, 200);
    cluster = await openCluster(configuration(model.baseUrl));
    // A broker that has just made a topic refuses to read it for a moment, which an example shows as the error it is.
    await eventually(
      () => Promise.all(['requests', 'steps', 'responses'].map(endsOf)).catch(() => []),
      (ends) => ends.length === 3,
    );
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
  });

  /** Runs the example as a user does, with nothing of this process's environment but what it needs. */
  function run(example: Example, args: readonly string[], more: Record<string, string> = {}): Promise<Finished> {
    const tool = examples[example];
    if ('missing' in tool) throw new Error(tool.missing);
    (serving ? answered : unanswered).push(example);
    const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, SLUICE_PREFIX } = cluster.variables;
    const { PATH, HOME } = process.env;
    const given = { PATH, HOME, KAFKA_BROKERS, SCHEMA_REGISTRY_URL, SLUICE_PREFIX };
    const variables = { ...given, ...tool.variables, PYTHONDONTWRITEBYTECODE: '1', ...more };
    return finish(tool.command, [`examples/upstream/${example}`, ...args], variables);
  }

  const kafkaHere = (): Kafka =>
    new Kafka({ brokers: cluster.variables.KAFKA_BROKERS?.split(',') ?? [], logLevel: logLevel.NOTHING });

  /** How many records each partition of a topic has. */
  async function endsOf(topic: string): Promise<readonly number[]> {
    const admin = kafkaHere().admin({ retry: { retries: 0 } });
    await admin.connect();
    try {
      return (await admin.fetchTopicOffsets(`${cluster.prefix}agent.${topic}`)).map(({ high }) => Number(high));
    } finally {
      await admin.disconnect();
    }
  }

  /** The first byte of every request on the topic, which says how it was encoded. */
  async function firstBytes(): Promise<readonly (number | undefined)[]> {
    const count = (await endsOf('requests')).reduce((sum, end) => sum + end, 0);
    const consumer = kafkaHere().consumer({ groupId: `${cluster.prefix}first-bytes` });
    await consumer.connect();
    try {
      await consumer.subscribe({ topics: [`${cluster.prefix}agent.requests`], fromBeginning: true });
      const bytes: (number | undefined)[] = [];
      await new Promise<void>((resolve, reject) => {
        const eachMessage = async ({ message }: EachMessagePayload): Promise<void> => {
          if (bytes.push(message.value?.[0]) === count) resolve();
        };
        consumer.run({ eachMessage }).catch(reject);
      });
      return bytes;
    } finally {
      await consumer.disconnect();
    }
  }

  const linesOf = (output: string, beginning: string): string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith(beginning))
      .map((line) => line.slice(beginning.length).trim());

  describe('while no service runs', () => {
    for (const example of Object.keys(examples) as Example[]) {
      test(example, 'gives up after its time limit and says what to look at', async () => {
        const { code, output, errors } = await run(example, [question], { ASK_SECONDS: '2' });
        expect(errors).toContain('There was no answer within 2 s. See that filter, agent and executor are running');
        expect(code).toBe(1);
        expect([...linesOf(output, 'answer:'), ...linesOf(output, 'response:')]).toEqual([]);
      });
    }
  });

  describe('while all services run', () => {
    beforeAll(async () => {
      await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
      serving = true;
    });

    for (const example of ['ask.ts', 'ask.py'] as const) {
      test(example, 'prints each step once, in order, and the answer', async () => {
        const { code, output, errors } = await run(example, [question, 'read-only,unheard-of']);
        expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
        const time = /"time":"\d{4}-\d\d-\d\dT/;
        const [first, second, ...more] = linesOf(output, 'step ');
        expect(first).toMatch(/^1\.1: now \{\} → ok: .* \[undefined → informed\]$/);
        expect(second).toMatch(/^2\.1: now \{"timezone":"Asia\/Tokyo"\} → ok: [^[]*$/);
        for (const step of [first, second]) expect(step).toMatch(time);
        expect(more).toEqual([]);
        expect(linesOf(output, 'answer:')).toEqual(['All is done.']);
      });

      test(example, 'ends with 1 and says why when the run ends with an error', async () => {
        const { code, output, errors } = await run(example, ['', 'read-only']);
        expect(errors).toContain('There is no answer (invalid_request): The question is empty.');
        expect([code, output]).toEqual([1, '']);
      });
    }

    test(
      'ask.sh',
      'shows the registry, publishes with kcat, and the Avro of steps and answer is read back',
      async () => {
        const { code, output, errors } = await run('ask.sh', [question, 'read-only,unheard-of']);
        expect([code, errors]).toEqual([0, '']);
        const [versions] = linesOf(output, 'versions:').map((line) => JSON.parse(line) as number[]);
        expect(versions).toEqual([1]);
        const [schema] = linesOf(output, 'AgentRequest:').map((line) => JSON.parse(line) as { name: string });
        expect(schema?.name).toBe('AgentRequest');
        const steps = linesOf(output, 'step:').map((line) => JSON.parse(line) as object);
        expect(steps).toMatchObject([
          { iteration: 1, steps: [{ action: 'now', outcome: 'ok', state_before: 'undefined', state: 'informed' }] },
          { iteration: 2, steps: [{ action: 'now', outcome: 'ok', arguments: '{"timezone":"Asia/Tokyo"}' }] },
        ]);
        expect(steps.length).toBe(2);
        const responses = linesOf(output, 'response:').map((line) => JSON.parse(line) as object);
        expect(responses).toMatchObject([{ kind: 'answer', answer: 'All is done.', question }]);
      },
    );

    test('ask.sh', 'ends with 1 and shows why when the run ends with an error', async () => {
      const { code, output } = await run('ask.sh', ['', 'read-only']);
      expect(linesOf(output, 'response:').map((line) => JSON.parse(line) as object)).toMatchObject([
        { kind: 'error', error: { code: 'invalid_request' } },
      ]);
      expect(code).toBe(1);
    });
  });

  it('has taken Avro from ask.ts and plain JSON from the others', async () => {
    const isAvro = (example: Example): boolean => example === 'ask.ts';
    const [certain, atMost] = [answered, [...answered, ...unanswered]].map(
      (examples) => examples.filter(isAvro).length,
    );
    const bytes = await firstBytes();
    const avro = bytes.filter((byte) => byte === 0).length;
    expect(certain).toBeGreaterThan(0);
    expect(avro).toBeGreaterThanOrEqual(certain ?? 0);
    // One whose two seconds were over before it came to publish has published nothing.
    expect(avro).toBeLessThanOrEqual(atMost ?? 0);
    const json = bytes.filter((byte) => byte === '{'.charCodeAt(0)).length;
    expect(json).toBeGreaterThanOrEqual(answered.length - (certain ?? 0));
    expect(avro + json).toBe(bytes.length);
  });
});
