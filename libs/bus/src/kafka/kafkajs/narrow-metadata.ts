import BrokerPool from 'kafkajs/src/cluster/brokerPool.js';
import Broker from 'kafkajs/src/broker/index.js';
import metadata from 'kafkajs/src/protocol/requests/metadata/index.js';
import { once } from './once.js';
import { protocolError } from '../produce/protocol-error.js';
import { orDisconnect } from '../produce/send-to.js';
import { attempts, untilItPasses } from '../produce/until-it-passes.js';

/** The newest that kafkajs knows; every broker from Kafka 2.0 on takes it. */
const version = 6;
/** Instead of the empty list, which is also how an admin client asks for all topics. */
const none: readonly string[] = [];
const leaderNotAvailable = 5;

/**
 * A kafkajs 2.2.4 client that has no topic in mind yet asks for the brokers by asking for all topics of the cluster,
 * and keeps them: on a cluster of 1,200 topics they were a fifth of a service's heap. Here such a client asks for no
 * topic.
 */
export const askForNoTopics = once(() => {
  const { refreshMetadata } = BrokerPool.prototype;
  BrokerPool.prototype.refreshMetadata = function (this: BrokerPool, topics) {
    return refreshMetadata.call(this, topics.length === 0 ? none : topics);
  };
  const ask = Broker.prototype.metadata;
  Broker.prototype.metadata = function (this: Broker, topics) {
    if (topics !== none) return ask.call(this, topics);
    return orDisconnect(this, () => this.connectionPool.send(brokersAlone()));
  };
});

/** kafkajs writes an empty list as none at all (-1), which means all topics; a length of zero means no topic. */
function brokersAlone() {
  const { request, response } = metadata.protocol({ version })({ topics: [], allowAutoTopicCreation: false });
  const encode = async () => {
    const encoded = await request.encode();
    encoded.buffer.writeInt32BE(0);
    return encoded;
  };
  return { request: { ...request, encode }, response };
}

/**
 * What an admin client asks of the whole cluster. Where brokers do not answer, or some partition of the cluster has
 * no leader at the moment, kafkajs keeps to itself why and fails on the answer that it does not have.
 */
export function askOfAll<T>(ask: () => Promise<T>): Promise<T> {
  return untilItPasses(attempts.brief, async () => {
    try {
      return await ask();
    } catch (error) {
      throw error instanceof TypeError ? protocolError(leaderNotAvailable) : error;
    }
  });
}
