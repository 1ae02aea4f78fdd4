import type { RecordTypes } from '@sluice/records';
import type { EntryKind, RecordName, TopicEntry } from './entry.js';
import { otherTopicRows } from './other-topics.js';
import { runTopicRows } from './run-topics.js';

/** Every topic, with all that is said of it once. */
const rows = { ...runTopicRows, ...otherTopicRows } satisfies Record<string, { readonly record: RecordName }>;

type Rows = typeof rows;
export type Topic = keyof Rows;
/** The record of each topic. */
type TopicRecords = { [T in Topic]: RecordTypes[Rows[T]['record']] };
export type RecordOf<T extends Topic> = TopicRecords[T];

type TopicWith<Part> = { [T in Topic]: Rows[T] extends Part ? T : never }[Topic];
type StoryTopic = TopicWith<{ part: 'story' }>;
type RunTopic = TopicWith<{ part: 'story' | 'run' }>;
type AuditedTopic = TopicWith<{ entries: object }>;
type SignedTopic = TopicWith<{ held: 'signed' }>;
export type CredentialTopic = TopicWith<{ hasCredential: true }>;
/** Where requests come in. */
export type RequestTopic = TopicWith<{ record: 'AgentRequest' }>;
/** What an entry of the audit is called that tells of a record. */
export type RecordEntryKind = { [T in AuditedTopic]: keyof Rows[T]['entries'] & string }[AuditedTopic];

type Camel<Text extends string> = Text extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Text;
type Short<T extends Topic> = T extends `agent.${infer Name}` ? Camel<Name> : never;

export const allTopics = Object.keys(rows) as readonly Topic[];

/** What the list says of a topic. */
export function topicEntry(topic: Topic): TopicEntry<RecordName> & { readonly record: RecordName } {
  return rows[topic] as unknown as TopicEntry<RecordName> & { readonly record: RecordName };
}

/** The topics by what they carry, as `toolCalls`; the values are the names on the wire. */
export const topics = Object.fromEntries(
  allTopics.map((topic) => [
    topic.slice('agent.'.length).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    topic,
  ]),
) as { readonly [T in Topic as Short<T>]: T };

const having = <T extends Topic>(holds: (entry: TopicEntry<RecordName>) => boolean): readonly T[] =>
  allTopics.filter((topic): topic is T => holds(topicEntry(topic)));

/** The topics that tell a run’s story, from its first Toolset to its end. */
export const storyTopics = having<StoryTopic>(({ part }) => part === 'story');
/**
 * The topics that have all that stays of a run: text and progress are on the log for a short time, and say nothing
 * that these do not.
 */
export const runTopics = having<RunTopic>(({ part }) => part !== null);
/** The topics whose records the audit has an entry for. */
export const auditedTopics = having<AuditedTopic>(({ entries }) => entries !== null);
/** The topics whose records a service takes by its group, where it commits how far it is. */
export const handledTopics = having(({ handledBy }) => handledBy !== null);

/** Whether requests come in there: those that a model is asked for, or those that make one call themselves. */
export function isRequestTopic(topic: Topic): topic is RequestTopic {
  return rows[topic].record === 'AgentRequest';
}

/** Whether the record is a request, on whichever of their topics. */
export function isRequest<M extends { readonly topic: Topic }>(
  message: M,
): message is Extract<M, { topic: RequestTopic }> {
  return isRequestTopic(message.topic);
}

/** The service that verifies the credentials of a topic’s records. */
export function verifierOf<T extends CredentialTopic>(topic: T): Rows[T]['handledBy'] {
  return rows[topic].handledBy;
}

const signedTopics = new Set<Topic>(having<SignedTopic>(({ held }) => held === 'signed'));

/** Whether who writes the topic signs its records. */
export function isSigned<M extends { readonly topic: Topic }>(
  message: M,
): message is Extract<M, { topic: SignedTopic }> {
  return signedTopics.has(message.topic);
}

/** The Avro record of each topic, by the name it has in schemas/. */
export const recordNames = Object.fromEntries(allTopics.map((topic) => [topic, rows[topic].record])) as {
  readonly [T in Topic]: Rows[T]['record'];
};

export function isTopic(name: string): name is Topic {
  return Object.hasOwn(rows, name);
}

/** The registry's subject for a topic's payloads. */
export function subjectOf(topic: Topic): string {
  return `${topic}-value`;
}

/** The audit’s entries that tell of records, by kind, with the record that they tell of. */
export const recordEntryKinds: readonly (EntryKind & {
  readonly kind: RecordEntryKind;
  readonly record: RecordName;
})[] = auditedTopics
  .flatMap((topic) =>
    Object.entries(topicEntry(topic).entries ?? {}).map(([kind, entry]) => ({
      ...entry,
      ...{ kind: kind as RecordEntryKind, record: rows[topic].record },
    })),
  )
  // Requests come on two topics.
  .filter(({ kind }, place, all) => all.findIndex((one) => one.kind === kind) === place);
