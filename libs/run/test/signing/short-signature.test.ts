import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { topics } from '@sluice/contracts';
import type { OfferedList } from '@sluice/contracts';
import { createSignatures, createVerifier, newKeySet } from '@sluice/identity';
import { isSignedBy, signContinuation, signGrant, signTurn, tokenWithKey } from '@sluice/run';
import { anyRecord } from '../../../../test/harness/any-record.js';

const keys = newKeySet(0);
const parts = { signatures: createSignatures(keys), clock: { now: () => 1_000 } };
/** Of a process that has seen none of the tokens. */
const verifier = createVerifier(keys);
const list: OfferedList = { hash: 'h', indexes: [0, 1], since: 1 };

const sample = <One>(records: fc.Arbitrary<One>): One => fc.sample(records, { numRuns: 1, seed: 7 })[0] as One;
const drawn = { ...sample(anyRecord('agent.toolsets')), list };
const calling = { ...sample(anyRecord('agent.tool-calls')), list };
const stepping = { ...sample(anyRecord('agent.steps')), list };

describe('the signature over a record that names its tools', () => {
  it('has neither what the record says nor what stands in the signature beside it', async () => {
    const [toolset, turn, result] = [
      await signGrant(drawn, parts),
      await signTurn(calling, parts),
      await signContinuation(stepping, parts),
    ];
    expect(toolset.recordSignature).toMatch(/^~\d~[\w-]{43}~$/);
    expect(result.recordSignature).toMatch(/^~\d~[\w-]{43}~$/);
    expect(turn.recordSignature).toMatch(/^[\w-]+\.\.[\w-]{86}$/);
    expect(await isSignedBy('filter', topics.toolsets, toolset, verifier)).toBe(true);
    expect(await isSignedBy('agent', topics.toolCalls, turn, verifier)).toBe(true);
    expect(await isSignedBy('executor', topics.steps, result, verifier)).toBe(true);
    const kids = [toolset, turn, result].map((record) => Buffer.from(tokenWithKey(record) ?? '', 'base64').toString());
    expect(kids).toEqual(['filter', 'agent', 'executor'].map((role) => expect.stringContaining(`"kid":"${role}-`)));
  });

  it('is whole where several are signed at once, and in records that former versions read', async () => {
    const [one, other] = await Promise.all([signGrant(drawn, parts), signGrant({ ...drawn, requestId: 'r' }, parts)]);
    for (const record of [one, other]) {
      expect(record.recordSignature).toMatch(/^~\d~[\w-]{86}~$/);
      expect(await isSignedBy('filter', topics.toolsets, record, verifier)).toBe(true);
    }
    const former = await signGrant({ ...drawn, list: null }, parts);
    expect(former.recordSignature).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+~\d~[\w-]+~[\w-]+$/);
    expect(await isSignedBy('filter', topics.toolsets, former, verifier)).toBe(true);
  });

  it('is none over another record, beside another signature, or where it is written in another way', async () => {
    const signed = await signGrant(drawn, parts);
    const other = await signGrant({ ...drawn, requestId: 'r' }, parts);
    const former = await signGrant({ ...drawn, list: null }, parts);
    const short = signed.recordSignature ?? '';
    const head = (signed.grant ?? '').split('~', 1)[0] ?? '';
    const turn = await signTurn(calling, parts);
    const forged = [
      { ...signed, state: 'elsewhere' },
      { ...signed, list: null },
      { ...signed, list: { ...list, since: 2 } },
      { ...signed, grant: other.grant },
      { ...signed, grant: null },
      { ...signed, grant: '' },
      { ...signed, recordSignature: other.recordSignature },
      { ...signed, recordSignature: former.recordSignature },
      { ...signed, recordSignature: `${head}${short}` },
      { ...signed, recordSignature: `${short}eyJ9` },
      { ...signed, recordSignature: `${short}~` },
      { ...signed, recordSignature: '' },
      { ...signed, recordSignature: '~' },
      { ...signed, recordSignature: '..' },
      { ...signed, recordSignature: turn.recordSignature },
    ];
    for (const record of forged) expect(await isSignedBy('filter', topics.toolsets, record, verifier)).toBe(false);
    expect(await isSignedBy('filter', topics.toolCalls, turn, verifier)).toBe(false);
  });
});
