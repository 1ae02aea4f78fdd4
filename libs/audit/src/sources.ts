import { auditedTopics, topicEntry } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** What the audit has entries for: all that stays of runs, what could not be processed, and configurations. */
type SourceTopic = (typeof auditedTopics)[number];
export type Source = Incoming<SourceTopic>;

export const sourceTopics: readonly SourceTopic[] = auditedTopics;

/** Whether the audit tells of a topic of that name. */
export function isSource(topic: string): topic is SourceTopic {
  return (sourceTopics as readonly string[]).includes(topic);
}

/**
 * Names a chain, one for each partition of each topic that the audit tells of; it is the key of the chain’s records.
 */
export function chainOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}/${partition}`;
}

/** Whether the records that the chain tells of are never taken by retention. */
export function isKeptForEver(chain: string): boolean {
  const topic = chain.slice(0, chain.lastIndexOf('/'));
  return isSource(topic) && topicEntry(topic).kept === 'for ever';
}
