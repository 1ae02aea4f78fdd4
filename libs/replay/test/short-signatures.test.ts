import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { topics } from '@sluice/contracts';
import type { OfferedList } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { createSignatures, createVerifier, newKeySet, readingUnknown, unverified } from '@sluice/identity';
import { loopSigners, signContinuation, signGrant, signTurn } from '@sluice/run';
import { anyRecord } from '../../../test/harness/any-record.js';
import { keysNotHere, recordDifference } from '../src/signed.js';

type Message = Incoming<'agent.toolsets' | 'agent.tool-calls' | 'agent.steps'>;

const keys = newKeySet(0);
const signing = { signatures: createSignatures(keys), clock: { now: () => 1_000 } };
const elsewhere = createVerifier(newKeySet(0));
const list: OfferedList = { hash: 'h', indexes: [0, 1], since: 1 };
const sample = <One>(records: fc.Arbitrary<One>): One => fc.sample(records, { numRuns: 1, seed: 7 })[0] as One;

const on = (topic: Message['topic'], record: object): Message =>
  ({ topic, partition: 0, offset: 0, key: 's', headers: {}, timestamp: 2_000, record }) as unknown as Message;
const difference = (message: Message, verifier: Parameters<typeof recordDifference>[2]) =>
  recordDifference(message, loopSigners[message.topic][0], verifier);

describe.each([
  ['named tools and short signatures', list],
  ['tools written out and whole signatures', null],
])('records with %s, replayed', (_, of) => {
  let alone: Message[];
  let atOnce: Message[];
  beforeAll(async () => {
    const toolset = { ...sample(anyRecord('agent.toolsets')), list: of };
    const turn = { ...sample(anyRecord('agent.tool-calls')), list: of };
    const result = { ...sample(anyRecord('agent.steps')), list: of };
    const granted = await signGrant(toolset, signing);
    const { grant } = granted;
    alone = [
      on(topics.toolsets, granted),
      on(topics.toolCalls, await signTurn({ ...turn, grant }, signing)),
      on(topics.steps, await signContinuation(result, signing)),
    ];
    const turns = await Promise.all(['a', 'b'].map((requestId) => signTurn({ ...turn, requestId, grant }, signing)));
    const results = await Promise.all(
      ['a', 'b'].map((requestId) => signContinuation({ ...result, requestId }, signing)),
    );
    atOnce = [...turns.map((one) => on(topics.toolCalls, one)), ...results.map((one) => on(topics.steps, one))];
  });
  const each = () => [...alone, ...atOnce];

  it('are as they were signed', async () => {
    for (const message of each()) {
      expect(await difference(message, createVerifier(keys))).toBeNull();
      expect(keysNotHere(message, createVerifier(keys))).toEqual([]);
    }
  });

  it('of an installation whose keys are not here name the key, and are honest as far as one can say without it', async () => {
    for (const message of each()) {
      const [writer] = loopSigners[message.topic];
      const missing = keysNotHere(message, elsewhere);
      const kid = missing.find((one) => one.startsWith(`${writer}-`));
      expect(kid).toBeDefined();
      // Of a ToolCall the filter’s grant is beside the agent’s signature.
      expect(missing).toHaveLength(message.topic === topics.toolCalls ? 2 : 1);
      expect(await difference(message, elsewhere)).toEqual({
        path: 'record_signature',
        was: `It names the key ${kid}, which is not here.`,
        is: `what the ${writer} signed`,
      });
      expect(await difference(message, readingUnknown(elsewhere))).toBeNull();
      expect(await difference(message, unverified)).toBeNull();
    }
  });

  it('that say another thing than was signed are found', async () => {
    for (const message of each()) {
      const changed = on(message.topic, { ...message.record, configVersion: 'another' });
      expect(await difference(changed, createVerifier(keys))).toMatchObject({
        was: 'The record is not as it was signed.',
      });
      expect(keysNotHere(changed, createVerifier(keys))).toEqual([]);
    }
  });
});
