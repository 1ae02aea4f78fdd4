import type { Kafka } from 'kafkajs';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';
import { makerOf } from './cluster.js';
import { once } from './once.js';

/**
 * Called for a partition, as the broker names it, whose log has nothing where it was to be read; what is to be read
 * instead is sought before it resolves.
 */
export type OutOfRange = (topic: string, partition: number) => Promise<void>;

const listeners = new WeakMap<object, OutOfRange>();

const mend = once(() => {
  const { setDefaultOffset: commitBeginning } = OffsetManager.prototype;
  OffsetManager.prototype.setDefaultOffset = async function (this: OffsetManager, place) {
    const outOfRange = listeners.get(this.cluster);
    if (outOfRange === undefined) return commitBeginning.call(this, place);
    await outOfRange(place.topic, place.partition);
  };
});

/**
 * When retention was faster than a reader, a log was cut back, or its leader is behind, kafkajs 2.2.4 commits “the
 * beginning” for the group: past the owner’s transactions, and without what is finished beyond the offset. If nothing
 * was committed after that, the next owner of the partition next would do again all that the log still has. So
 * consumers of this client commit nothing then, and their owner says where they go on.
 */
export function reportingOutOfRange(client: Kafka, outOfRange: OutOfRange): Kafka {
  mend();
  const { make, replace } = makerOf(client);
  replace((options) => {
    const cluster = make(options);
    listeners.set(cluster, outOfRange);
    return cluster;
  });
  return client;
}
