import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import avsc from 'avsc';
import { encodeFinished } from '../../../libs/bus/src/kafka/commit/finished-set.ts';
import type { Committed, Found, Place } from '../check/observed.ts';

/**
 * What the log file of an embedded Sluice holds at one moment, read with SQL and the schemas in it, and nothing of
 * the bus.
 */
export interface LogFile {
  readonly found: readonly Found[];
  readonly committed: readonly Committed[];
  readonly ends: readonly Place[];
}

type Row = Readonly<Record<string, unknown>>;

/** Reads the file, whoever is writing it. Empty while it is not there. */
export function readLogFile(file: string): LogFile {
  if (!existsSync(file)) return { found: [], committed: [], ends: [] };
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    database.exec('BEGIN');
    const rows = (sql: string): Row[] => database.prepare(sql).all();
    const topics = new Map(rows('SELECT id, name FROM topics').map(({ id, name }) => [id as number, name as string]));
    const types = new Map(
      rows('SELECT subject, id, schema FROM schemas').map(({ subject, id, schema }) => [
        `${String(subject)}/${Number(id)}`,
        avsc.Type.forSchema(JSON.parse(schema as string) as avsc.Schema),
      ]),
    );
    const name = (id: unknown): string => topics.get(id as number) ?? '';
    const finished = rows('SELECT * FROM finished ORDER BY first');
    return {
      found: rows('SELECT topic, offset, key, value FROM records ORDER BY seq').map(
        ({ topic, offset, key, value }) => ({
          topic: name(topic),
          partition: 0,
          offset: offset as number,
          key: key as string,
          record: decode(types, name(topic), Buffer.from(value as Uint8Array)),
        }),
      ),
      committed: rows('SELECT * FROM positions').map(({ consumer_group, topic, prefix }) => {
        const beyond = finished
          .filter((one) => one['consumer_group'] === consumer_group && one['topic'] === topic)
          .map(({ first, past }) => ({ first: first as number, past: past as number }));
        return {
          group: consumer_group as string,
          topic: name(topic),
          partition: 0,
          offset: prefix as number,
          metadata: encodeFinished(prefix as number, beyond),
        };
      }),
      ends: rows('SELECT name, next_offset FROM topics').map(({ name: topic, next_offset }) => ({
        topic: topic as string,
        partition: 0,
        offset: next_offset as number,
      })),
    };
  } finally {
    database.close();
  }
}

function decode(types: ReadonlyMap<string, avsc.Type>, topic: string, value: Buffer): Found['record'] {
  if (value[0] === 0x7b) return JSON.parse(value.toString()) as Record<string, unknown>;
  const type = value.length < 5 ? undefined : types.get(`${topic}-value/${value.readInt32BE(1)}`);
  return type === undefined ? null : (type.fromBuffer(value.subarray(5)) as Record<string, unknown>);
}
