import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wellFormed } from '@sluice/core';
import { allTopics, createCodec, recordNames, recordToJson } from '@sluice/contracts';
import type { AgentStepResult, Codec, RecordOf, Topic, Toolset } from '@sluice/contracts';
import { createSignatures, newKeySet, readKeySet } from '@sluice/identity';
import { signContinuation, signGrant, verifyContinuation, verifyGrant } from '@sluice/run';
import { digestOfRecord } from '../libs/run/src/claims/vouched.js';
import { caughtUp } from './audit/auditing.js';
import { anyRecord } from './harness/any-record.js';
import { projectRoot } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const schemas: string[] = [];
const codec: Codec = await createCodec({
  register: (_, schema) => Promise.resolve(schemas.push(schema)),
  find: (id) => Promise.resolve(schemas[id - 1]),
});

/** A record as its readers get it, by each wire. */
async function asRead<T extends Topic>(topic: T, record: RecordOf<T>): Promise<readonly RecordOf<T>[]> {
  const json = Buffer.from(JSON.stringify(recordToJson(recordNames[topic], record)));
  return [await codec.decode(topic, codec.encode(topic, record)), await codec.decode(topic, json)];
}

/** As plain data: what avsc reads are instances of classes of its own. */
function plain<T extends Topic>(topic: T, record: RecordOf<T>): unknown {
  return recordToJson(recordNames[topic], record);
}

describe('whatever its texts and names hold', () => {
  it.each(allTopics)('a record on %s is read back as it is when well-formed, as Avro and as JSON', async (topic) => {
    await fc.assert(
      fc.asyncProperty(anyRecord(topic), async (record) => {
        const expected = plain(topic, wellFormed(record));
        for (const read of await asRead(topic, record)) {
          expect(plain(topic, read)).toEqual(expected);
          expect(wellFormed(read)).toBe(read);
        }
      }),
      { numRuns: 100 },
    );
  });

  const signatures = createSignatures(newKeySet(0));
  const signing = { signatures, clock: { now: () => 1_000 } };

  it('what the filter signed is what is read back', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecord('agent.toolsets'), async (record) => {
        const signed = await signGrant(ofSomebody(record), signing);
        for (const read of await asRead('agent.toolsets', signed))
          expect(await verifyGrant(read, signing)).toBe('valid');
      }),
      { numRuns: 200 },
    );
  });

  it('what the executor signed is what is read back', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecord('agent.steps'), async (record) => {
        const signed: AgentStepResult = await signContinuation(record, signing);
        for (const read of await asRead('agent.steps', signed)) await verifyContinuation(read, signing);
      }),
      { numRuns: 200 },
    );
  });

  it('what the executor signed is what is read back where two names of groups become one', async () => {
    const [record] = fc.sample(anyRecord('agent.steps'), 1) as [AgentStepResult];
    const group = ['a\ud83d', 'a\ude00'];
    const signed = await signContinuation({ ...record, next: { ...record.next, group } }, signing);
    for (const read of await asRead('agent.steps', signed)) await verifyContinuation(read, signing);
  });

  it.each(['agent.approvals', 'agent.responses'] as const)(
    'what a service vouches for on %s is what is read back',
    async (topic) => {
      await fc.assert(
        fc.asyncProperty(anyRecord(topic), async (record) => {
          const vouched = digestOfRecord(recordNames[topic], record);
          for (const read of await asRead(topic, record))
            expect(digestOfRecord(recordNames[topic], read)).toBe(vouched);
        }),
        { numRuns: 200 },
      );
    },
  );
});

function ofSomebody(record: Toolset): Toolset {
  const principal = record.run.principal ?? {
    actorId: 'user:\ud83d',
    tenantId: 't',
    subjectId: null,
    groups: [],
    connections: [],
  };
  return { ...record, run: { ...record.run, principal } };
}

describe('a run in which every door lets half a character in', () => {
  const script = join(projectRoot, 'libs/hub/test/mcp-servers/hostile.mjs');
  const configuration = `
tool:
  work: { type: mcp-tool }
  secret: { type: mcp-tool }
  result: { type: mcp-tool }
policy: { allowed_tools: [work, secret, result] }
agents: { default: { instructions: "Be kind \\ud83d." } }
limits: { run_seconds: 30 }
mcp:
  servers: { hostile: { command: node, args: ["${script}", half-characters] } }
  tools:
    work: { server: hostile, tool: work, effect: read_only, redaction: whole }
    secret: { server: hostile, tool: secret, effect: read_only, redaction: whole }
    result: { server: hostile, tool: result, effect: read_only, redaction: whole }
`;
  let system: TestSystem | undefined;
  afterEach(async () => {
    await system?.close();
    system = undefined;
  });

  it('ends with its answer, replays to the byte, and nothing of it is quarantined', async () => {
    const calls = (['work', 'secret', 'result'] as const).map((name) => [`mcp__hostile__${name}`, '{}'] as const);
    const unknown = `${'n'.repeat(127)}\u{1f600}`;
    const model = new ScriptedModel(
      inOrder(
        { thought: 'Hm \ud83d', calls: [...calls, [unknown, '{"text":"\\ud99c"}'], ['also \ud83d', '{"t":"\ud83d"}']] },
        { answer: 'Done \ude00.' },
      ),
    );
    system = await startSystem(configuration, model);
    const json = '{"question":"Is it \\ud83d?","request_id":"half \\ud83d","session_id":"s","state":"new \\udc00"}';
    await system.bus.appendRaw('agent.requests', 's', Buffer.from(json));

    const response = await system.responseOf('half \ufffd');
    expect(response).toMatchObject({ kind: 'answer', answer: 'Done \ufffd.', question: 'Is it \ufffd?' });
    expect(response.history.map(({ outcome, observation }) => [outcome, observation])).toEqual([
      ['ok', 'Sunny \ufffd'],
      ['execution', 'It broke at \ufffd'],
      ['ok', '{"n\ufffd":["\ufffd"]}'],
      ['unavailable', expect.any(String)],
      ['unavailable', expect.any(String)],
    ]);
    expect(response.history[0]?.thought).toBe('Hm \ufffd');
    expect(response.history[3]?.arguments).toBe('{"text":"\ufffd"}');
    // What a provider gets holds no half of a character, escaped or not.
    expect(JSON.stringify(model.asked)).not.toMatch(/\\+ud[89a-f]/i);
    expect(await system.all('agent.dead-letters')).toEqual([]);

    const keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    const decisions = await replayed(system.bus, keys);
    expect(decisions.length).toBeGreaterThan(3);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const report = await caughtUp(system.bus, createSignatures(keys));
    expect(report.findings).toEqual([]);
  });
});
