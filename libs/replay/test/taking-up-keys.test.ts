import { describe, expect, it } from '@jest/globals';
import { createSignatures, newKeySet, rotate, takeUpMs } from '@sluice/identity';
import { recordDifference } from '../src/signed.js';

type Message = Parameters<typeof recordDifference<'agent.tool-calls'>>[0];

describe('a turn between the rotation that gave agents keys and the restart of its agent', () => {
  const former = { keys: newKeySet(0).keys.filter(({ role }) => role !== 'agent') };
  const rotatedAt = 1_000_000;
  const verifier = createSignatures(rotate(former, rotatedAt));
  const unsigned = (timestamp: number) =>
    ({ topic: 'agent.tool-calls', record: { recordSignature: null, grant: 'x' }, timestamp }) as unknown as Message;

  it('is a former version’s, and not one without its signature for ever', async () => {
    expect(await recordDifference(unsigned(rotatedAt + 60_000), 'agent', verifier)).toBeNull();
  });

  it('misses its signature once the time to take the keys up is over', async () => {
    const late = await recordDifference(unsigned(rotatedAt + takeUpMs), 'agent', verifier);
    expect(late).toMatchObject({ path: 'record_signature', was: 'The record is not signed.' });
  });

  it('misses it at once where the agents had keys before', async () => {
    const before = createSignatures(rotate(newKeySet(0), rotatedAt));
    expect(await recordDifference(unsigned(rotatedAt + 1), 'agent', before)).not.toBeNull();
  });
});
