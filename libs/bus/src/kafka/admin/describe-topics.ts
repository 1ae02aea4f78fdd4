import type { Admin, ConfigResourceTypes } from 'kafkajs';
import { allTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Names } from '../names.js';

/** What is described, by the numbers of the protocol: the library does not export their names. */
export const ofTopic = 2 as ConfigResourceTypes;

export interface Entry {
  readonly configName: string;
  readonly configValue: string;
  readonly configSource: number;
}

/** The settings of the topics that are there. */
export async function describeTopics(admin: Admin, names: Names): Promise<ReadonlyMap<Topic, readonly Entry[]>> {
  const resources = allTopics.map((topic) => ({ type: ofTopic, name: names.topic(topic) }));
  const described = await admin.describeConfigs({ includeSynonyms: false, resources });
  return new Map(
    described.resources.flatMap(({ resourceName, configEntries }) => {
      const topic = names.topicOf(resourceName);
      return topic === undefined ? [] : [[topic, configEntries as unknown as readonly Entry[]] as const];
    }),
  );
}
