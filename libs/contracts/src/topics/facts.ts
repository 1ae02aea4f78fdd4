import type { Principal } from '@sluice/records';
import type { LoggedRecord, RunIds } from './entry.js';
import { topicEntry } from './topics.js';
import type { RecordOf, Topic } from './topics.js';

/** A record where it stands on the log. */
type Logged<T extends Topic = Topic> = {
  [K in T]: LoggedRecord<RecordOf<K>> & { readonly topic: K };
}[T];

/** What the list of topics says of one, for a record of which no more than that is known. */
interface AnyFacts {
  readonly ids: (message: Logged) => RunIds | null;
  readonly principal?: (record: RecordOf<Topic>) => Principal | null | undefined;
  readonly tenant?: (record: RecordOf<Topic>) => string | null;
  readonly gist: (record: RecordOf<Topic>) => string;
}

const factsOf = (topic: Topic): AnyFacts => topicEntry(topic) as unknown as AnyFacts;

/** The run and the session that a record is of; null for a record of no run. */
export function runIdsOf(message: Logged): RunIds | null {
  return factsOf(message.topic).ids(message);
}

/** For whom a record’s run is; null where that is not known, undefined where the record does not say. */
export function principalOf({ topic, record }: Logged): Principal | null | undefined {
  return factsOf(topic).principal?.(record);
}

/** The tenant that a record says it is of; null where it does not say. */
export function tenantOf({ topic, record }: Logged): string | null {
  return factsOf(topic).tenant?.(record) ?? null;
}

/** What a record says in a few words. */
export function gistOf({ topic, record }: Logged): string {
  return factsOf(topic).gist(record);
}
