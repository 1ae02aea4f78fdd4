import { typeOf } from './codec.js';
import type { AvroType } from './schema.js';
import { selfContained } from './schema.js';
import { allTopics, recordNames, subjectOf } from './topics/topics.js';

/** A schema as a registry, or a table beside the log, has it. */
export interface RegisteredSchema {
  readonly subject: string;
  readonly schema: string;
}

/**
 * Subjects with a registered schema whose records this version cannot read, or that cannot read this version's. What
 * is no subject of this version is left out.
 */
export function incompatible(registered: readonly RegisteredSchema[]): readonly string[] {
  const todays = new Map(allTopics.map((topic) => [subjectOf(topic), recordNames[topic]] as const));
  const subjects = registered.flatMap(({ subject, schema }) => {
    const record = todays.get(subject);
    return record === undefined || isReadable(schema, record) ? [] : [subject];
  });
  return [...new Set(subjects)];
}

function isReadable(schema: string, record: Parameters<typeof selfContained>[0]): boolean {
  try {
    const [theirs, ours] = [typeOf(JSON.parse(schema) as AvroType), typeOf(selfContained(record))];
    ours.createResolver(theirs);
    theirs.createResolver(ours);
    return true;
  } catch {
    return false;
  }
}
