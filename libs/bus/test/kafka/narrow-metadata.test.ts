import { beforeAll, describe, expect, it } from '@jest/globals';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { clientsFor } from '../../src/kafka/kafkajs/clients.js';
import { clusterOf } from '../../src/kafka/kafkajs/cluster.js';
import { testMs } from '../contract/harness.js';
import { makeTopics, optionsHere, withAdmin } from './on-broker.js';

describe('a client that has no topic in mind', () => {
  beforeAll(() => infra('kafka'), startTimeout);

  it(
    'knows the brokers, and nothing of the topics that others have in the cluster',
    async () => {
      const options = await optionsHere();
      const client = clientsFor(options)();
      const ours = `${options.prefix}ours`;
      const theirs = `${options.prefix}theirs`;
      await makeTopics(options, { topic: ours }, { topic: theirs });
      const cluster = clusterOf(client);
      await cluster.connect();
      try {
        await cluster.refreshMetadata();
        expect(knownTo(cluster)).toEqual([]);
        await cluster.findControllerBroker();
        await cluster.addMultipleTargetTopics([ours]);
        expect(knownTo(cluster)).toEqual([ours]);
      } finally {
        await cluster.disconnect();
      }
      // Who asks what there is hears of all.
      await withAdmin(options, async (admin) => {
        expect(await admin.listTopics()).toEqual(expect.arrayContaining([ours, theirs]));
      });
    },
    testMs,
  );
});

function knownTo(cluster: object): readonly string[] {
  const { metadata } = (cluster as { brokerPool: { metadata: { topicMetadata: { topic: string }[] } } }).brokerPool;
  return metadata.topicMetadata.map(({ topic }) => topic);
}
