import { describe, expect, it } from '@jest/globals';
import { memoryBytes, recalled, withRun } from '@sluice/core';
import type { RememberedRun } from '@sluice/core';

const run = (n: number, answer = `Answer ${n}.`): RememberedRun => {
  return { requestId: `run-${n}`, question: `Question ${n}?`, answer, endedAt: n };
};
const many = (count: number): RememberedRun[] => Array.from({ length: count }, (_, n) => run(n));
const ids = (runs: readonly RememberedRun[]): string[] => runs.map(({ requestId }) => requestId);

describe('the earlier runs that a model is shown', () => {
  it('are the last ones, the oldest first', () => {
    const shown = recalled(many(6), { kind: 'last', runs: 2, tokens: 1_000 });
    expect(shown).toEqual([run(4), run(5)]);
    expect(memoryBytes({ memory: shown })).toBe(2 * ('Question 4?'.length + 'Answer 4.'.length));
  });

  it('have room for the newest before older ones', () => {
    const long = [run(0), run(1, 'x'.repeat(400)), run(2)];
    expect(ids(recalled(long, { kind: 'last', runs: 3, tokens: 100 }))).toEqual(['run-2']);
    expect(ids(recalled(long, { kind: 'last', runs: 3, tokens: 200 }))).toEqual(['run-0', 'run-1', 'run-2']);
    expect(recalled(long, { kind: 'last', runs: 3, tokens: 1 })).toEqual([]);
  });

  it('are brief in a summary: the first two sentences of each answer', () => {
    const kept = [
      run(0, 'It is Rome. Since 1871.\n\nBefore that it was Florence.'),
      run(1, 'One'),
      run(2, 'y'.repeat(2_000)),
    ];
    const [first, second, third] = recalled(kept, { kind: 'summary', runs: 20, tokens: 2_000 });
    expect([first?.answer, second?.answer]).toEqual(['It is Rome. Since 1871.', 'One']);
    expect(third?.answer.length).toBeLessThanOrEqual(400);
    expect(third?.answer).toContain('bytes were left out');
  });
});

describe('what is kept of a session', () => {
  it('is its last 20 runs, in the order of their ends', () => {
    const kept = many(25).reduce<readonly RememberedRun[]>(withRun, []);
    expect([kept.length, kept[0]?.requestId, kept.at(-1)?.requestId]).toEqual([20, 'run-5', 'run-24']);
    expect(ids(withRun([run(3)], run(1)))).toEqual(['run-1', 'run-3']);
  });

  it('has a run once, however often its end is handled', () => {
    expect(withRun([run(1), run(2)], { ...run(1, 'Another answer.'), endedAt: 3 })).toEqual([
      run(2),
      { ...run(1, 'Another answer.'), endedAt: 3 },
    ]);
  });

  it('is bounded for each run', () => {
    const [kept] = withRun([], { ...run(1, 'z'.repeat(100_000)), question: 'q'.repeat(10_000) });
    expect([kept?.question.length, (kept?.answer.length ?? 0) <= 16_384]).toEqual([4_096, true]);
  });
});
