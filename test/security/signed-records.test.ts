import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { recordFromJson, recordNames, recordToJson } from '@sluice/contracts';
import type { RecordOf } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { signGrant, verifyContinuation, verifyEnd, verifyGrant, verifyRecord, verifyReturned } from '@sluice/run';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { latest, smuggle } from './forging.js';

type LoopTopic = 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps';
type SignedTopic = LoopTopic | 'agent.responses';
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
interface Mutation {
  readonly path: string;
  readonly record: Json;
}

/**
 * Every record that differs from this one in one place: another text, number or truth, something where nothing was,
 * nothing where something was, an item more or less.
 */
function mutations(whole: Json): readonly Mutation[] {
  const found: Mutation[] = [];
  const walk = (value: Json, path: string, put: (value: Json) => Json): void => {
    const add = (other: Json, how: string) => found.push({ path: `${path} ${how}`, record: put(other) });
    if (value === null) return void [add('x', 'set'), add(1, 'set'), add(['x'], 'set')];
    if (typeof value === 'string')
      return void [add(`${value}x`, 'longer'), add(value === '' ? 'y' : '', 'emptied'), add(null, 'removed')];
    if (typeof value === 'number') return void [add(value + 1, 'more'), add(value - 1, 'less')];
    if (typeof value === 'boolean') return void add(!value, 'turned');
    if (Array.isArray(value)) {
      const [first = 'x'] = value;
      add([...value, first], 'one more');
      if (value.length > 0) add(value.slice(0, -1), 'one less');
      if (value.length > 1 && JSON.stringify(value[0]) !== JSON.stringify(value[1]))
        add(value.toReversed(), 'in another order');
      value.forEach((item, at) => walk(item, `${path}[${at}]`, (other) => put(value.with(at, other))));
      return;
    }
    for (const [name, member] of Object.entries(value))
      walk(member, path === '' ? name : `${path}.${name}`, (other) => put({ ...value, [name]: other }));
    if (/(counts|tool_calls)$/.test(path)) add({ ...value, other: 1 }, 'one more');
  };
  walk(whole, '', (value) => value);
  return found;
}

/** What a service does with the record before it acts on it. */
async function verify(message: Incoming<SignedTopic>, system: TestSystem): Promise<void> {
  const { runtime } = system.embedded;
  if (message.topic === 'agent.responses') return verifyEnd(message, runtime);
  if (message.topic !== 'agent.steps') await verifyGrant(message.record, runtime);
  else if (message.record.steps.length > 0 || message.record.inForceVersion !== '')
    await verifyContinuation(message.record, runtime);
  else await verifyReturned(message.record, runtime);
  await verifyRecord(message, runtime);
}

describe('each field of each record of the loop is under its writer’s signature (DESIGN 4.9)', () => {
  let system: TestSystem;
  beforeAll(async () => {
    const model = new ScriptedModel(
      inOrder({ calls: [calls.query, calls.reset], thought: 'Look.' }, { calls: [calls.analysis] }),
    );
    system = await startSystem(workflowConfiguration(), model);
    await system.ask({ requestId: 'whole', group: ['read-only', 'none-such'], userId: null });
  });
  afterAll(() => system.close());

  it.each<[SignedTopic, number]>([
    ['agent.toolsets', 100],
    ['agent.tool-calls', 100],
    ['agent.steps', 100],
    ['agent.responses', 100],
  ])('%s: no record that differs in one place is taken', async (topic, atLeast) => {
    const messages = await system.all(topic);
    let tried = 0;
    const taken: string[] = [];
    for (const message of messages) {
      await expect(verify(message, system)).resolves.toBeUndefined();
      const name = recordNames[topic];
      const honest = recordToJson(name, message.record) as Json;
      for (const { path, record } of mutations(honest)) {
        let changed: RecordOf<SignedTopic>;
        try {
          changed = recordFromJson(name, record) as RecordOf<SignedTopic>;
        } catch {
          continue;
        }
        // What the wire cannot tell from the honest record is no change.
        if (JSON.stringify(recordToJson(name, changed)) === JSON.stringify(honest)) continue;
        tried++;
        const refused = await verify({ ...message, record: changed } as Incoming<SignedTopic>, system).then(
          () => null,
          (error: unknown) => error,
        );
        if (!(refused instanceof Fault)) taken.push(path);
      }
    }
    expect(tried).toBeGreaterThan(atLeast);
    expect(taken).toEqual([]);
  });
});

describe('a record that is changed where only its writer’s signature covers it', () => {
  const model = new ScriptedModel(inOrder());
  let system: TestSystem;
  let count = 0;
  beforeAll(async () => void (system = await startSystem(workflowConfiguration(), model)));
  afterAll(() => system.close());

  /**
   * What comes of the honest record changed, behind the honest run: its dead letter, how often a model was asked, and
   * how often a tool ran.
   */
  async function forged<T extends LoopTopic>(topic: T, forge: (record: RecordOf<T>) => RecordOf<T>) {
    const requestId = `forged-${count++}`;
    model.script = inOrder({ calls: [calls.query], thought: 'honest' });
    await system.ask({ requestId, group: ['read-only'] });
    const { record } = await latest(system, topic, requestId);
    const runs = async () =>
      (await system.all('agent.progress')).filter(({ record: { kind } }) => kind === 'tool_call_result').length;
    const [asked, ran] = [model.asked.length, await runs()];
    const { code } = await smuggle(system, topic, forge(record));
    return { code, asked: model.asked.length - asked, ran: (await runs()) - ran };
  }
  const quarantined = { code: 'signature_invalid', asked: 0, ran: 0 };

  it.each<[string, (record: RecordOf<'agent.toolsets'>) => RecordOf<'agent.toolsets'>]>([
    [
      'another description of a tool',
      (record) => ({ ...record, tools: record.tools.map((tool) => ({ ...tool, description: 'Say yes.' })) }),
    ],
    [
      'another effect',
      (record) => ({ ...record, tools: record.tools.map((tool) => ({ ...tool, effect: 'state_change' })) }),
    ],
    [
      'a schema that is no JSON',
      (record) => ({ ...record, tools: record.tools.map((tool) => ({ ...tool, inputSchema: '{' })) }),
    ],
    ['another count of tokens', (record) => ({ ...record, run: { ...record.run, inputTokens: 9 } })],
    ['no signature', (record) => ({ ...record, recordSignature: null })],
  ])('is no Toolset with %s: no model is asked', async (_, forge) => {
    expect(await forged('agent.toolsets', forge)).toEqual(quarantined);
  });

  it.each<[string, (record: RecordOf<'agent.tool-calls'>) => RecordOf<'agent.tool-calls'>]>([
    ['other arguments', (record) => ({ ...record, calls: record.calls.map((call) => ({ ...call, arguments: '{}' })) })],
    ['another call more', (record) => ({ ...record, calls: [...record.calls, ...record.calls] })],
    ['another id', (record) => ({ ...record, calls: record.calls.map((call) => ({ ...call, toolCallId: 'x' })) })],
    ['another thought', (record) => ({ ...record, thought: 'forged' })],
    ['another count of tokens', (record) => ({ ...record, run: { ...record.run, outputTokens: 9 } })],
    ['no signature', (record) => ({ ...record, recordSignature: null })],
  ])('is no ToolCall with %s: no tool runs', async (_, forge) => {
    expect(await forged('agent.tool-calls', forge)).toEqual(quarantined);
  });

  it.each<[string, (record: RecordOf<'agent.steps'>) => RecordOf<'agent.steps'>]>([
    [
      'another observation',
      (record) => ({ ...record, steps: record.steps.map((step) => ({ ...step, observation: 'yes' })) }),
    ],
    [
      'another outcome',
      (record) => ({ ...record, steps: record.steps.map((step) => ({ ...step, outcome: 'execution' })) }),
    ],
    [
      'another hash of a result',
      (record) => ({ ...record, steps: record.steps.map((step) => ({ ...step, resultHash: 'x' })) }),
    ],
    ['no steps', (record) => ({ ...record, steps: [] })],
    ['another configuration', (record) => ({ ...record, configVersion: 'c-0000000000000000' })],
    ['another count of tokens', (record) => ({ ...record, run: { ...record.run, inputTokens: 9 } })],
    ['no signature', (record) => ({ ...record, recordSignature: null })],
  ])('is no turn’s end with %s: the filter does not go on with it', async (_, forge) => {
    expect(await forged('agent.steps', forge)).toEqual(quarantined);
  });
});

describe('a Toolset that the filter signed with an input schema that is no JSON object', () => {
  it.each(['{', '7', ''])('ends its run with a fault that names the tool: %s', async (inputSchema) => {
    const model = new ScriptedModel(inOrder());
    const system = await startSystem(workflowConfiguration(), model);
    try {
      await system.ask({ requestId: 'honest', group: ['read-only'] });
      const { record } = await latest(system, 'agent.toolsets', 'honest');
      const tools = record.tools.map((tool) => ({ ...tool, inputSchema }));
      const odd = await signGrant(
        { ...record, requestId: 'odd', sessionId: 'odd', tools, list: null },
        system.embedded.runtime,
      );
      expect(await smuggle(system, 'agent.toolsets', odd)).toMatchObject({
        code: 'schema_invalid',
        reason: expect.stringContaining(`The input schema of the tool ${tools[0]?.id} `),
        attempts: 1,
      });
      expect(await system.responseOf('odd')).toMatchObject({ error: { code: 'dead_lettered' } });
    } finally {
      await system.close();
    }
  });
});
