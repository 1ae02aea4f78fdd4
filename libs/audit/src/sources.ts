import { allTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** What the audit tells of: everything but progress, which is best effort, and itself. */
export type SourceTopic = Exclude<Topic, 'agent.progress' | 'agent.audit'>;
export type Source = Incoming<SourceTopic>;

export const sourceTopics = allTopics.filter(
  (topic): topic is SourceTopic => topic !== 'agent.progress' && topic !== 'agent.audit',
);

/** Whether the audit tells of a topic of that name. */
export function isSource(topic: string): topic is SourceTopic {
  return (sourceTopics as readonly string[]).includes(topic);
}

/** Names a chain, one for each partition of each topic that the audit tells of; it is the key of the chain’s records. */
export function chainOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}/${partition}`;
}
