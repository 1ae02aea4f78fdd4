import { describe, expect, it } from '@jest/globals';
import { createSignatures, newKeySet } from '@sluice/identity';
import { checkpointBeside, noHead, signHead } from '@sluice/audit';
import { lastCheckpoints } from '../../apps/sluice/src/audit/checkpoints.js';
import { logOf, response, signatures, written } from '../../libs/audit/test/recorded.js';

const sources = Array.from({ length: 12 }, (_, offset) => response(offset, `answer ${offset}`));

describe('the last checkpoints, to be kept elsewhere', () => {
  it('are genuine: a forged one for a later entry does not count', async () => {
    const honest = await written(sources, { every: 10, beside: true });
    const place = { topic: 'agent.responses', partition: 0 };
    const head = { ...noHead, sequence: 1_000, hash: 'a'.repeat(64), offset: 999 };
    const foreign = createSignatures(newKeySet(0));
    const forged = checkpointBeside(place, head, 9_500, await signHead(place, head, 9_500, foreign));
    const log = logOf([...honest, { key: 'agent.responses/0', record: forged }]);
    const kept = await lastCheckpoints(log, signatures);
    expect(kept).toEqual(await lastCheckpoints(logOf(honest), signatures));
    expect(kept).toEqual([expect.objectContaining({ chain: 'agent.responses/0', sequence: 26 })]);
  });

  it('are missed in a sentence while there are none', async () => {
    const unsealed = await written(sources.slice(0, 2), { every: 10 });
    await expect(lastCheckpoints(logOf(unsealed), signatures)).rejects.toThrow(
      'No chain has a checkpoint of the audit',
    );
    await expect(lastCheckpoints(logOf([]), signatures)).rejects.toThrow('There is no audit here');
  });
});
