import type { Admin, ConfigResourceTypes } from 'kafkajs';
import { allTopics, handledTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Names } from '../names.js';
import { askOfAll } from '../kafkajs/narrow-metadata.js';
import type { TopicOptions } from '../options.js';
import { describeTopics, ofTopic } from './describe-topics.js';
import type { Entry } from './describe-topics.js';
import { topicConfig } from './topics.js';

const day = 24 * 3_600_000;
/** By the number of the protocol. */
const ofBroker = 4 as ConfigResourceTypes;
/** Where a setting comes from: the topic’s own. */
const topicsOwn = 1;

/** What a redeployment sets on topics that exist; the rest of their settings stay as they are. */
const settings = ['retention.ms', 'retention.bytes', 'segment.ms', 'segment.bytes'] as const;

const size = 'retention.bytes';
const unlimited = '-1';
/** In the place of a value: the topic has none of its own. */
const brokers = 'the broker’s own';

/** Settings of a topic that are not as they are wanted. */
interface Difference {
  readonly topic: Topic;
  readonly setting: string;
  readonly is: string;
  readonly wanted: string;
}

/** Which topics keep their records otherwise than is wanted. */
async function retentionDifferences(admin: Admin, names: Names, options: TopicOptions): Promise<readonly Difference[]> {
  const found = await describeTopics(admin, names);
  return allTopics.flatMap((topic) => {
    const entries = found.get(topic) ?? [];
    const wanted = wantedOf(topic, names, options);
    const others = wanted.flatMap(({ name, value }) => {
      const is = entries.find(({ configName }) => configName === name)?.configValue;
      return is === undefined || is === value ? [] : [{ topic, setting: name, is, wanted: value }];
    });
    const limit = wanted.some(({ name }) => name === size) ? undefined : ownLimit(entries);
    return limit === undefined ? others : [...others, { topic, setting: size, is: limit, wanted: brokers }];
  });
}

/**
 * Makes them as they are wanted. The old request replaces all settings of a topic, so the others are sent along as
 * they are.
 */
export async function applyRetention(
  admin: Admin,
  names: Names,
  options: TopicOptions,
): Promise<readonly Difference[]> {
  const differences = await retentionDifferences(admin, names, options);
  const found = await describeTopics(admin, names);
  for (const topic of new Set(differences.map((difference) => difference.topic))) {
    const wanted = wantedOf(topic, names, options);
    const others = (found.get(topic) ?? [])
      .filter(({ configSource, configName }) => configSource === topicsOwn && !isSetting(configName))
      .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
    const resource = {
      type: ofTopic,
      name: names.topic(topic),
      configEntries: [...others, ...wanted],
    };
    await admin.alterConfigs({ validateOnly: false, resources: [resource] });
  }
  return differences;
}

/**
 * A sentence if the broker forgets where a group has read before the topics let go of what it read: a service that
 * was away so long would read again what is still there.
 */
export async function offsetsWarning(admin: Admin, names: Names): Promise<string | null> {
  const { brokers } = await askOfAll(() => admin.describeCluster());
  const name = String(brokers[0]?.nodeId ?? 0);
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ofBroker, name, configNames: ['offsets.retention.minutes'] }],
  });
  const offsetsMs = Number(resources[0]?.configEntries[0]?.configValue ?? NaN) * 60_000;
  let longest = { topic: '', ms: 0 };
  for (const [topic, entries] of await describeTopics(admin, names)) {
    if (!handledTopics.includes(topic)) continue;
    const ms = Number(entries.find(({ configName }) => configName === 'retention.ms')?.configValue);
    if (ms === -1 || ms > longest.ms) longest = { topic, ms: ms === -1 ? Infinity : ms };
    if (ms === -1) break;
  }
  if (!(offsetsMs <= longest.ms)) return null;
  const kept = longest.ms === Infinity ? 'for ever' : `for ${days(longest.ms)}`;
  return (
    `The broker forgets after ${days(offsetsMs)} where a service that is away has read, and ${longest.topic} is kept ${kept}: ` +
    'a service that comes back later than that reads again what is still there. Set offsets.retention.minutes higher.'
  );
}

function days(milliseconds: number): string {
  const count = milliseconds / day;
  return `${Number.isInteger(count) ? count : count.toFixed(1)} ${count === 1 ? 'day' : 'days'}`;
}

/**
 * The size that the topic was given once, where it has one: who wants none any more would lose records to it that are
 * young enough.
 */
function ownLimit(entries: readonly Entry[]): string | undefined {
  const own = entries.find(({ configName, configSource }) => configName === size && configSource === topicsOwn);
  return own?.configValue === unlimited ? undefined : own?.configValue;
}

function isSetting(name: string): boolean {
  return settings.some((setting) => setting === name);
}

function wantedOf(topic: Topic, names: Names, options: TopicOptions) {
  return (topicConfig(topic, names, options).configEntries ?? []).filter(({ name }) => isSetting(name));
}
