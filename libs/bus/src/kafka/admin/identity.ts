import type { Admin } from 'kafkajs';
import { writtenByServices } from '../../port.js';
import type { LogIdentity } from '../../port.js';
import { askOfAll } from '../kafkajs/narrow-metadata.js';
import type { Names } from '../names.js';

/**
 * Kafka names the cluster, so topics that an operator creates again on it are the same log. A partition that had a
 * record ends beyond 0 for ever.
 */
export async function identityOf(admin: Admin, names: Names): Promise<LogIdentity> {
  const { clusterId } = await askOfAll(() => admin.describeCluster());
  const bounds = await Promise.all(writtenByServices.map((topic) => admin.fetchTopicOffsets(names.topic(topic))));
  return { id: `kafka ${clusterId}`, used: bounds.flat().some(({ high }) => Number(high) > 0) };
}
