import type { Topic } from '@sluice/contracts';
import type { Admin } from 'kafkajs';
import type { PartitionLag } from '../../port.js';
import { Position } from '../../processing/position.js';
import { decodeFinished } from '../commit/finished-set.js';
import type { Names } from '../names.js';

/**
 * The group’s committed offsets against the ends of the log; records that finished beyond the committed offset do not
 * count.
 */
export async function groupLag(
  admin: Admin,
  names: Names,
  group: string,
  topics: readonly Topic[],
): Promise<readonly PartitionLag[]> {
  const groupId = names.group(group);
  const committed = await admin.fetchOffsets({ groupId, topics: topics.map((topic) => names.topic(topic)) });
  const lags = await Promise.all(
    topics.map(async (topic) => {
      const name = names.topic(topic);
      const offsets = committed.find((one) => one.topic === name)?.partitions ?? [];
      const bounds = await admin.fetchTopicOffsets(name);
      return bounds.map(({ partition, low, high }) => {
        const found = offsets.find((one) => one.partition === partition);
        const offset = Number(found?.offset ?? -1);
        const position = new Position(Math.max(offset, Number(low)));
        for (const { first, past } of decodeFinished(offset, found?.metadata ?? null)) position.finish(first, past);
        return { topic, partition, records: position.unfinishedBelow(Number(high)) };
      });
    }),
  );
  return lags.flat();
}
