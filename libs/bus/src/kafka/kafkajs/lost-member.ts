import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { once } from './once.js';
import { protocolError } from '../produce/protocol-error.js';

const unknownMember = 25;

/**
 * A kafkajs 2.2.4 consumer that its group has forgotten joins it again, under a new name. If a broker is away just
 * then, it tries again to read, not to join: without a name it sends no heartbeats, so it reads on for ever and never
 * learns that its partitions belong to another member, whose group refuses all that it commits. Here a heartbeat
 * without a name fails as one under an unknown name does, and so it joins again.
 */
export const joinAgainIfForgotten = once(() => {
  const { heartbeat } = ConsumerGroup.prototype;
  ConsumerGroup.prototype.heartbeat = async function (this: ConsumerGroup, options) {
    if (!this.memberId) throw protocolError(unknownMember);
    await heartbeat.call(this, options);
  };
});
