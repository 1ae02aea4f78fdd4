import Broker from 'kafkajs/src/broker/index.js';
import { once } from './once.js';
import { protocolError } from '../produce/protocol-error.js';

const leaderNotAvailable = 5;

/**
 * A broker that has just started may say that the cluster has no brokers, since it is not registered itself yet. A
 * kafkajs 2.2.4 client then forgets all that it knows, fails with “No brokers in the broker pool”, and asks again
 * only when its last answer is five minutes old. Here such an answer is none: the client keeps what it knows and asks
 * again, as where a partition has no leader yet.
 */
export const askAgainIfNoBrokers = once(() => {
  const { metadata } = Broker.prototype;
  Broker.prototype.metadata = async function (this: Broker, topics) {
    const answer = await metadata.call(this, topics);
    if (answer.brokers.length === 0) throw protocolError(leaderNotAvailable);
    return answer;
  };
});
