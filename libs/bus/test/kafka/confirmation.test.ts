import { describe, expect, it } from '@jest/globals';
import { Confirmation } from '../../src/kafka/consume/confirmation.js';
import { deferred, eventually } from '../contract/harness.js';

/** A consumer’s confirmation, whose questions are answered as `answer` says. */
function confirming(answer: (key: string) => Promise<boolean>) {
  const asked: string[] = [];
  const said: string[] = [];
  const failures: unknown[] = [];
  const leaving = new AbortController();
  const confirmation = new Confirmation({
    isOurs: (key) => (asked.push(key), answer(key)),
    confirmed: ({ generation }, lost) => said.push([generation, ...lost].join(' ')),
    failed: (error) => failures.push(error),
    leaving: leaving.signal,
  });
  const given = (generation: number, stayed: readonly string[], memberId = 'm'): void =>
    confirmation.given({ memberId, generation }, stayed);
  return { given, asked, said, failures, leaving };
}

describe('what a consumer has again after a rebalance', () => {
  it('was its own all the time if that is the next one', () => {
    const { given, asked, said } = confirming(() => Promise.resolve(false));
    given(1, []);
    given(2, ['a', 'b']);
    given(3, ['b']);
    expect([said, asked]).toEqual([['1', '2', '3'], []]);
  });

  it.each([
    ['a rebalance went by without it', 3, 'm'],
    ['it is another member by now', 2, 'n'],
  ] as const)('is asked for if %s, and what was another consumer’s is lost', async (_, generation, memberId) => {
    const { given, said } = confirming((key) => Promise.resolve(key === 'a'));
    given(1, []);
    given(generation, ['a', 'b'], memberId);
    expect(said).toEqual(['1']);
    await eventually('the answer', () => said.length === 2);
    expect(said).toEqual(['1', `${generation} b`]);
  });

  it('is asked for again if the next rebalance comes before the answer', async () => {
    const answers = [deferred(), deferred()];
    let count = 0;
    const { given, said, asked } = confirming(async () => {
      const isFirst = count++ === 0;
      await answers[isFirst ? 0 : 1]?.promise;
      return isFirst;
    });
    given(1, []);
    given(3, ['a']);
    given(4, ['a']);
    expect([said, asked]).toEqual([['1'], ['a', 'a']]);
    answers[0]?.resolve();
    await new Promise(setImmediate);
    expect(said).toEqual(['1']);
    answers[1]?.resolve();
    await eventually('the answer', () => said.length === 2);
    expect(said).toEqual(['1', '4 a']);
    given(5, ['a']);
    expect(said).toEqual(['1', '4 a', '5']);
  });

  it('is asked for until an answer comes, or the consumer leaves', async () => {
    let isAway = true;
    const away = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(true));
    const { given, said, failures, leaving } = confirming(away);
    given(1, ['a']);
    await eventually('a failure', () => failures.length === 1);
    isAway = false;
    await eventually('the answer', () => said.length === 1);
    isAway = true;
    given(3, ['a']);
    await eventually('another failure', () => failures.length === 2);
    leaving.abort();
    isAway = false;
    await new Promise(setImmediate);
    expect(said).toEqual(['1']);
  });
});
