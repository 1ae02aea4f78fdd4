import type { Resolver, Type } from 'avsc';
import { typeOf } from './codec.js';
import { selfContained } from './schema.js';
import type { AvroType } from './schema.js';
import { recordNames } from './topics/topics.js';
import type { RecordOf, Topic } from './topics/topics.js';

/** By topic and the writer’s schema: there are as many as versions of the program wrote to a log. */
const known = new Map<string, { readonly theirs: Type; readonly ours: Type; readonly resolver: Resolver }>();

/**
 * Writes the record with that schema and reads it with today’s: what the writer did not know gets its default. Gives
 * the record itself where that writer could not have written it at all.
 */
export function asWrittenWith<T extends Topic>(topic: T, writer: string, record: RecordOf<T>): RecordOf<T> {
  const name = `${topic}\n${writer}`;
  let types = known.get(name);
  if (types === undefined) {
    const ours = typeOf(selfContained(recordNames[topic]));
    const theirs = typeOf(JSON.parse(writer) as AvroType);
    known.set(name, (types = { theirs, ours, resolver: ours.createResolver(theirs) }));
  }
  let bytes: Buffer;
  try {
    bytes = types.theirs.toBuffer(record);
  } catch {
    return record;
  }
  return types.ours.fromBuffer(bytes, types.resolver) as RecordOf<T>;
}
