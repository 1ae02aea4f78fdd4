import { describe, expect, it } from '@jest/globals';
import { allTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { findingsOf } from '../../src/kafka/admin/findings.js';
import { topicConfig } from '../../src/kafka/admin/topics.js';
import { Names } from '../../src/kafka/names.js';

const names = new Names('p.');
const options = { partitions: 6, replication: 1 };

/** What is found where the topic has these settings in place of those that Sluice makes it with. */
function found(topic: Topic, settings: Readonly<Record<string, string>>, partitions?: number) {
  const made = topicConfig(topic, names, options);
  const all = new Map([
    ...(made.configEntries ?? []).map(({ name, value }) => [name, value] as const),
    ...Object.entries(settings),
  ]);
  const there = new Map([[topic, { settings: all, partitions: partitions ?? made.numPartitions ?? 0 }]]);
  return findingsOf(there, names, options).map(
    ({ setting, endangers }) => `${setting} ${endangers ? 'endangers' : 'warns'}`,
  );
}

describe('a topic that is there', () => {
  it('is as it must be where Sluice made it', () => {
    for (const topic of allTopics) expect(found(topic, {})).toEqual([]);
  });

  it.each<readonly [Topic, Readonly<Record<string, string>>, readonly string[]]>([
    ['agent.requests', { 'message.timestamp.type': 'CreateTime' }, ['message.timestamp.type endangers']],
    ['agent.progress', { 'message.timestamp.type': 'CreateTime' }, ['message.timestamp.type warns']],
    ['agent.audit', { 'cleanup.policy': 'compact,delete' }, ['cleanup.policy endangers']],
    ['agent.config', { 'retention.ms': '604800000' }, ['retention.ms endangers']],
    ['agent.audit', { 'retention.ms': '604800000' }, ['retention.ms warns']],
    ['agent.steps', { 'max.message.bytes': '200000' }, ['max.message.bytes warns']],
    ['agent.dead-letters', { 'max.message.bytes': '1048588' }, ['max.message.bytes warns']],
    ['agent.steps', { 'unclean.leader.election.enable': 'true' }, ['unclean.leader.election.enable warns']],
    ['agent.steps', { 'compression.type': 'zstd' }, []],
  ])('%s with %j', (topic, settings, expected) => {
    expect(found(topic, settings)).toEqual(expected);
  });

  it('has enough partitions, or is warned of', () => {
    expect(found('agent.steps', {}, 3)).toEqual(['partitions warns']);
    expect(found('agent.steps', {}, 12)).toEqual([]);
  });
});
