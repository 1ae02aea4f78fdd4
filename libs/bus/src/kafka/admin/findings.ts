import type { Topic } from '@sluice/contracts';
import type { Names } from '../names.js';
import type { TopicOptions } from '../options.js';
import { leastMessageBytes, topicConfig } from './topics.js';

/** What of a topic is not as Sluice needs it. */
export interface TopicFinding {
  readonly topic: Topic;
  readonly setting: string;
  readonly is: string;
  readonly wanted: string;
  /** Whether rights or data are in danger, so that nothing should be done on the topic as it is. */
  readonly endangers: boolean;
  /** What follows from it, and what to do. */
  readonly sentence: string;
}

/** A topic as the broker has it. */
export interface TopicThere {
  readonly settings: ReadonlyMap<string, string>;
  readonly partitions: number;
}

const forEver = '-1';
/** Best effort: nothing is decided by it, and nothing is proved. */
const isProgress = (topic: Topic): boolean => topic === 'agent.progress';

/**
 * The settings that differ from what Sluice needs, each with a sentence. It skips settings that this process may not
 * see.
 */
export function findingsOf(
  there: ReadonlyMap<Topic, TopicThere>,
  names: Names,
  options: TopicOptions,
): readonly TopicFinding[] {
  return [...there].flatMap(([topic, { settings, partitions }]) => {
    const wanted = new Map(topicConfig(topic, names, options).configEntries?.map(({ name, value }) => [name, value]));
    const found: TopicFinding[] = [];
    const find = (setting: string, is: string, value: string, endangers: boolean, why: string): void => {
      const sentence = `The topic ${names.topic(topic)} has ${setting} ${is} and needs ${value}: ${why}`;
      found.push({ topic, setting, is, wanted: value, endangers, sentence });
    };
    const differs = (
      setting: string,
      isWrong: (is: string, value: string) => boolean,
      why: string,
      endangers: boolean,
    ): void => {
      const [is, value] = [settings.get(setting), wanted.get(setting)];
      if (is !== undefined && value !== undefined && isWrong(is, value)) find(setting, is, value, endangers, why);
    };
    differs('message.timestamp.type', (is, value) => is !== value, `producers choose the time that their records have, and so whether a credential or an approval has run out. ${howToSet('message.timestamp.type', 'LogAppendTime')}`, !isProgress(topic)); // prettier-ignore
    differs('cleanup.policy', (is) => is.split(',').includes('compact'), `a record is removed when a later one has its key, and with it runs, approvals and the audit’s chain. ${howToSet('cleanup.policy', 'delete')}`, !isProgress(topic)); // prettier-ignore
    const keepsAll = wanted.get('retention.ms') === forEver;
    differs('retention.ms', (is, value) => is !== value, keepsAll ? 'its first records will be gone, without which the later ones prove nothing. Run `sluice topics --apply`.' : 'records are kept for another time than SLUICE_RETENTION says. Run `sluice topics --apply`.', keepsAll && topic === 'agent.config'); // prettier-ignore
    const least = topic === 'agent.dead-letters' ? 2 * leastMessageBytes : leastMessageBytes;
    const bytes = settings.get('max.message.bytes');
    if (bytes !== undefined && Number(bytes) < least) find('max.message.bytes', bytes, `${least} or more`, false, 'larger records are refused, and their runs end with size_exceeded. Raise it.'); // prettier-ignore
    if (settings.get('unclean.leader.election.enable') === 'true') find('unclean.leader.election.enable', 'true', 'false', false, 'records that were acknowledged are lost where a broker that was behind becomes the leader. Turn it off.'); // prettier-ignore
    const count = topic === 'agent.config' ? 1 : options.partitions;
    if (partitions < count) find('partitions', String(partitions), String(count), false, 'fewer instances share its work than the environment says. Add partitions while nothing runs: sessions move to others.'); // prettier-ignore
    return found;
  });
}

function howToSet(setting: string, value: string): string {
  return `Set it: kafka-configs.sh --alter --entity-type topics --entity-name TOPIC --add-config ${setting}=${value}.`;
}
