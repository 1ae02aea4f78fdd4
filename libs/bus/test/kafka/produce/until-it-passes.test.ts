import { describe, expect, it } from '@jest/globals';
import { protocolError } from '../../../src/kafka/produce/protocol-error.js';
import { attempts, untilItPasses } from '../../../src/kafka/produce/until-it-passes.js';

/** Kafka’s numbers of COORDINATOR_LOAD_IN_PROGRESS and TRANSACTIONAL_ID_AUTHORIZATION_FAILED. */
const loading = 14;
const notAllowed = 53;

/** How often it was asked, after what, and how it ended, when the first answers are these errors. */
async function asking(most: number, codes: readonly number[]) {
  let asked = 0;
  const after: unknown[] = [];
  const ask = async (): Promise<string> => {
    const code = codes[asked++];
    if (code !== undefined) throw protocolError(code);
    return 'there';
  };
  const before = async (error: unknown): Promise<void> => void after.push(error);
  const ended = await untilItPasses(most, ask, before).catch((error: unknown) => error);
  return { asked, after, ended };
}

describe('what a broker is asked', () => {
  it('is asked again while what is in the way may pass, such as a coordinator that loads', async () => {
    const { asked, after, ended } = await asking(attempts.brief, [loading, loading]);
    expect({ asked, ended }).toEqual({ asked: 3, ended: 'there' });
    expect(after).toEqual([protocolError(loading), protocolError(loading)]);
  });

  it('is not retried where it is refused, or the answer is not what it should be', async () => {
    expect((await asking(attempts.brief, [notAllowed])).asked).toBe(1);
    const torn = (): Promise<never> => Promise.reject(new RangeError('The value of "offset" is out of range.'));
    await expect(untilItPasses(attempts.brief, torn, () => Promise.reject(new Error('again')))).rejects.toThrow(
      RangeError,
    );
  });

  it('fails at last, with what was in the way', async () => {
    const { asked, ended } = await asking(4, [loading, loading, loading, loading, loading]);
    expect(asked).toBe(4);
    expect(ended).toMatchObject({ retriable: true });
  });
});
