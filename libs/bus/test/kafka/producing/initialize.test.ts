import { describe, expect, it } from '@jest/globals';
import type { Cluster } from '../../../src/kafka/cluster.js';
import { initialize } from '../../../src/kafka/producing/initialize.js';
import { protocolError } from '../../../src/kafka/producing/protocol-error.js';

/** Kafka’s numbers of COORDINATOR_LOAD_IN_PROGRESS and TRANSACTIONAL_ID_AUTHORIZATION_FAILED. */
const loading = 14;
const notAllowed = 53;

/** How often it was asked, and how it ended, when the first answers are these errors. */
async function asking(...codes: readonly number[]) {
  const cluster = {
    connect: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
  } as unknown as Cluster;
  let asked = 0;
  const ask = async (): Promise<string> => {
    const code = codes[asked++];
    if (code !== undefined) throw protocolError(code);
    return 'identity';
  };
  const ended = await initialize(cluster, ask).catch((error: unknown) => error);
  return { asked, ended };
}

describe('the identity of a producer', () => {
  it('is asked for again while a coordinator loads, as on a broker that has just started', async () => {
    expect(await asking(loading, loading)).toEqual({ asked: 3, ended: 'identity' });
  });

  it('is not asked for again where it is refused', async () => {
    const { asked, ended } = await asking(notAllowed);
    expect(asked).toBe(1);
    expect(ended).toMatchObject({ type: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED' });
  });

  it('is given up after about two seconds', async () => {
    const { asked, ended } = await asking(...Array.from({ length: 20 }, () => loading));
    expect(asked).toBe(7);
    expect(ended).toMatchObject({ retriable: true });
  }, 20_000);
});
