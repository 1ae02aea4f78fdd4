import { parseArgs } from 'node:util';
import { printable } from '@sluice/core';
import type { ReadOptions } from '@sluice/bus';
import { selectRecords, writeArchive } from '@sluice/archive';
import type { Selection } from '@sluice/archive';
import { topics } from '@sluice/contracts';
import { openBus, requireLog } from '@sluice/service';
import { readRange, readTopics } from '../read-words.js';
import { sessionNamed } from '../session-named.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice export [--from time] [--to time] [--session id] [--tenant id] [--topic agent.steps,…] FILE
  Writes records of all topics to a compressed file that sluice replay reads: without credentials, with all configurations and with
  the schemas. A time is ISO 8601 or milliseconds since the epoch; --to is not included. A unique beginning of a session’s id is
  enough.`;

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      session: { type: 'string' },
      tenant: { type: 'string' },
      topic: { type: 'string' },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`Give one file to write to.\n${usage}`);
  const narrowed = {
    ...readRange(values),
    tenant: values.tenant ?? null,
    topics: values.topic === undefined ? null : readTopics(values.topic),
  };
  const { environment, log, write, paint, stopped } = surroundings;
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  requireLog(environment);
  const { bus } = await openBus(environment, log, stop.signal);
  try {
    const { signal } = stop;
    const session = values.session === undefined ? null : await sessionNamed(bus, values.session, { signal });
    const selection: Selection = { ...narrowed, session };
    let lost = 0;
    const onUndecodable: ReadOptions['onUndecodable'] = ({ topic, partition, offset }, reason) => {
      lost++;
      write(`${paint.bad('undecodable')} ${topic}/${partition}/${offset} is not in the export: ${printable(reason)}\n`);
    };
    const records = untilStopped(selectRecords(bus, selection, onUndecodable, stop.signal), stop.signal);
    const exported = { selection, createdAt: Date.now(), records, undecodable: () => lost };
    const trailer = await writeArchive(file, exported);
    const count = Object.values(trailer.records).reduce((sum, one) => sum + one, 0);
    write(
      `${paint.good('✓')} ${file}: ${count === 1 ? 'one record' : `${count} records`}, ${trailer.bytes} bytes, SHA-256 ${trailer.sha256}\n`,
    );
    if (count === (trailer.records[topics.config] ?? 0))
      write('It has nothing but configurations, which every export has: nothing else on the log was selected.\n');
    return 0;
  } finally {
    await bus.close();
  }
}

/** A reading that is stopped ends like one that is through, and half an export must not look like a whole one. */
async function* untilStopped<T>(records: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  yield* records;
  if (signal.aborted) throw new Error('Stopped, so there is no export.');
}
