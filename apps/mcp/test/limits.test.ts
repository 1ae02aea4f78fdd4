import { describe, expect, it } from '@jest/globals';
import type { Principal } from '@sluice/core';
import { Limits } from '../src/limits.js';

type Given = ConstructorParameters<typeof Limits>[0];
type Taken = Awaited<ReturnType<Given['rates']['take']>>;

const ann: Principal = { tenantId: 'acme', actorId: 'user:ann', subjectId: null, groups: [], connections: [] };
const mostAtOnce = 64;

/** The limits of a process under a limiter that answers as `take` says. */
function limits(take: () => Promise<Taken>, mcpCallsPerMinute = 3): Limits {
  return new Limits({ rates: { take }, environment: { mcpCallsPerMinute } } as unknown as Given);
}

const within = (): Promise<Taken> => Promise.resolve({ within: true, remaining: 1, resetMs: 1 } as Taken);

/** Takes as many places as there are. */
async function full(of: Limits, caller = ann): Promise<readonly (() => void)[]> {
  const admitted = await Promise.all(Array.from({ length: mostAtOnce }, () => of.admit(caller)));
  return admitted.map((one) => {
    if ('refused' in one) throw new Error(one.refused);
    return one.done;
  });
}

describe('the calls of one caller under way', () => {
  it('are 64 at most; one that has ended makes room for one, and for one only', async () => {
    const made = limits(within);
    const [first] = await full(made);
    expect(await made.admit(ann)).toMatchObject({ refused: expect.stringContaining('64 calls under way') });
    first?.();
    expect(await made.admit(ann)).toHaveProperty('done');
    expect(await made.admit(ann)).toHaveProperty('refused');
  });

  it('are counted for each caller of each tenant', async () => {
    const made = limits(within);
    await full(made);
    for (const other of [
      { ...ann, actorId: 'user:dan' },
      { ...ann, tenantId: 'globex' },
    ])
      expect(await made.admit(other)).toHaveProperty('done');
  });

  it('keep no place for one that is beyond the limit of a minute', async () => {
    let answer: Taken = { within: false, retryAfterMs: 1_500 } as Taken;
    const made = limits(() => Promise.resolve(answer));
    for (let n = 0; n <= mostAtOnce; n++)
      expect(await made.admit(ann)).toEqual({ refused: 'This caller may make 3 calls in a minute. Try again in 2 s.' });
    answer = { within: true, remaining: 1, resetMs: 1 } as Taken;
    await full(made);
  });

  it('keep no place for one that could not be counted', async () => {
    let isAway = true;
    const made = limits(() => (isAway ? Promise.reject(new Error('The database is away.')) : within()));
    for (let n = 0; n <= mostAtOnce; n++) await expect(made.admit(ann)).rejects.toThrow('away');
    isAway = false;
    await full(made);
  });

  it('are not counted in a minute where there is no such limit', async () => {
    const made = limits(() => Promise.reject(new Error('asked')), 0);
    expect(await made.admit(ann)).toHaveProperty('done');
  });
});
