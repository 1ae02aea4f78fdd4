import { beforeAll, describe, expect, it } from '@jest/globals';
import Broker from 'kafkajs/src/broker/index.js';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { clientsFor } from '../../src/kafka/clients.js';
import { clusterOf } from '../../src/kafka/cluster.js';
import { askAgainIfNoBrokers } from '../../src/kafka/no-brokers.js';
import { testMs } from '../contract/harness.js';
import { optionsHere } from './on-broker.js';

describe('a client that a broker tells that there are no brokers, since it has just started', () => {
  beforeAll(() => infra('kafka'), startTimeout);

  it(
    'keeps those that it knows and asks again',
    async () => {
      const options = await optionsHere();
      const cluster = clusterOf(clientsFor(options)());
      await cluster.connect();
      const { prototype } = Broker;
      const { metadata } = prototype;
      let told = 0;
      try {
        await cluster.refreshMetadata();
        prototype.metadata = async function (this: Broker, topics) {
          const answer = await metadata.call(this, topics);
          return told++ < 2 ? { ...answer, brokers: [] } : answer;
        };
        askAgainIfNoBrokers();
        await cluster.refreshMetadata();
        expect(told).toBe(3);
        expect(await cluster.findControllerBroker()).toBeInstanceOf(Broker);
        expect(nodesOf(cluster)).not.toEqual([]);
      } finally {
        prototype.metadata = metadata;
        await cluster.disconnect();
      }
    },
    testMs,
  );
});

function nodesOf(cluster: object): readonly string[] {
  return (cluster as { brokerPool: { getNodeIds(): string[] } }).brokerPool.getNodeIds();
}
