import { beforeAll, describe, expect, it } from '@jest/globals';
import Broker from 'kafkajs/src/broker/index.js';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { clientsFor } from '../../src/kafka/kafkajs/clients.js';
import { clusterOf } from '../../src/kafka/kafkajs/cluster.js';
import { askForNoTopics } from '../../src/kafka/kafkajs/narrow-metadata.js';
import { testMs } from '../contract/harness.js';
import { optionsHere } from './on-broker.js';

/** How many of the next answers are such ones, and how many there were. */
let without = 0;
let answers = 0;

describe('a client that a broker tells that there are no brokers, since it has just started', () => {
  beforeAll(() => {
    // Below what is put around it with the first client, but for what asks by itself.
    askForNoTopics();
    const { metadata } = Broker.prototype;
    Broker.prototype.metadata = async function (this: Broker, topics) {
      const answer = await metadata.call(this, topics);
      return answers++ < without ? { ...answer, brokers: [] } : answer;
    };
    return infra('kafka');
  }, startTimeout);

  it(
    'keeps those that it knows and asks again',
    async () => {
      const cluster = clusterOf(clientsFor(await optionsHere())());
      await cluster.connect();
      try {
        await cluster.refreshMetadata();
        [without, answers] = [2, 0];
        await cluster.refreshMetadata();
        expect(answers).toBe(3);
        expect(await cluster.findControllerBroker()).toBeInstanceOf(Broker);
        expect(nodesOf(cluster)).not.toEqual([]);
      } finally {
        await cluster.disconnect();
      }
    },
    testMs,
  );
});

function nodesOf(cluster: object): readonly string[] {
  return (cluster as { brokerPool: { getNodeIds(): string[] } }).brokerPool.getNodeIds();
}
