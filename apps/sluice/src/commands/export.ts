import { parseArgs } from 'node:util';
import { printable } from '@sluice/core';
import type { ReadOptions } from '@sluice/bus';
import { selectRecords, streamArchive, writeArchive } from '@sluice/archive';
import type { Exported, Selection, Trailer } from '@sluice/archive';
import { topics } from '@sluice/contracts';
import { openBus, openContent, requireLog } from '@sluice/host';
import { ContentExport } from '../export-content.js';
import { readRange, readTopics } from '../read-words.js';
import { sessionNamed } from '../session-named.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice export [--from time] [--to time] [--session id] [--tenant id] [--topic agent.steps,…] [--content FOLDER] [--json] FILE
  Writes records of all topics to a compressed file that sluice replay reads: without credentials, with all configurations and with
  the schemas. A time is ISO 8601 or milliseconds since the epoch; --to is not included. A unique beginning of a session’s id is
  enough. - for FILE is standard output; what is said then goes to standard error.
  --content writes the images, files and long results that the records name into a folder: each as a file with its hash for a
  name, and content.jsonl that says of which run it is and what.
  --json prints {file, records, bytes, sha256, undecodable, content}, with - on standard error; content is null without --content.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      session: { type: 'string' },
      tenant: { type: 'string' },
      topic: { type: 'string' },
      content: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`Give one file to write to.\n${usage}`);
  const narrowed = {
    ...readRange(values),
    tenant: values.tenant ?? null,
    topics: values.topic === undefined ? null : readTopics(values.topic),
  };
  const { environment, log, paint, stopped } = surroundings;
  const toOutput = file === '-';
  if (toOutput && surroundings.terminal)
    throw new Error('An export is no text for a terminal: send it on, as in `sluice export - > log.sluice`.');
  const said = toOutput ? surroundings.note : surroundings.write;
  const say = values.json ? (): void => undefined : said;
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  requireLog(environment);
  const { bus } = await openBus(environment, log, stop.signal);
  const store = values.content === undefined ? null : openContent(environment, { now: () => Date.now() });
  let content: ContentExport | null = null;
  try {
    const { signal } = stop;
    const session = values.session === undefined ? null : await sessionNamed(bus, values.session, { signal });
    const selection: Selection = { ...narrowed, session };
    let lost = 0;
    const onUndecodable: ReadOptions['onUndecodable'] = ({ topic, partition, offset }, reason) => {
      lost++;
      say(`${paint.bad('undecodable')} ${topic}/${partition}/${offset} is not in the export: ${printable(reason)}\n`);
    };
    const selected = selectRecords(bus, selection, onUndecodable, stop.signal);
    const records = untilStopped(selected, stop.signal, toOutput ? () => surroundings.taken() : null);
    content = store === null ? null : await ContentExport.into(values.content ?? '', store);
    const all = content?.of(records) ?? records;
    const exported = { selection, createdAt: Date.now(), records: all, undecodable: () => lost };
    const trailer = await (toOutput ? toStandardOutput(exported, surroundings) : writeArchive(file, exported));
    const count = Object.values(trailer.records).reduce((sum, one) => sum + one, 0);
    const { bytes, sha256 } = trailer;
    const written = { file, records: count, bytes, sha256, undecodable: lost, content: content?.written ?? null };
    if (values.json && toOutput) surroundings.note(`${JSON.stringify(written)}\n`);
    else if (values.json) printJson(surroundings, written);
    say(
      `${paint.good('✓')} ${toOutput ? 'standard output' : file}: ${count === 1 ? 'one record' : `${count} records`}, ${trailer.bytes} bytes, SHA-256 ${trailer.sha256}\n`,
    );
    if (content !== null) {
      const { pieces, bytes: size, missing } = content.written;
      const lacking = missing === 0 ? '' : `; ${paint.bad(`${missing} missing`)}, which content.jsonl names`;
      say(`${paint.good('✓')} ${values.content}: ${pieces} pieces of content, ${size} bytes${lacking}\n`);
    }
    if (count === (trailer.records[topics.config] ?? 0))
      say('It has nothing but configurations, which every export has: nothing else on the log was selected.\n');
    return 0;
  } finally {
    await content?.close();
    await store?.close();
    await bus.close();
  }
}

/** No faster than its reader takes it. */
function toStandardOutput(exported: Exported, { print, taken }: CommandContext): Promise<Trailer> {
  const appendFile = async (bytes: Uint8Array): Promise<void> => {
    print(bytes);
    await taken();
  };
  return streamArchive({ appendFile }, exported);
}

/**
 * A reading that is stopped ends like one that is through, and half an export must not look like a whole one. `taken`
 * throws where it was stopped because its reader takes no more.
 */
async function* untilStopped<T>(
  records: AsyncIterable<T>,
  signal: AbortSignal,
  taken: (() => Promise<void>) | null,
): AsyncGenerator<T, void, undefined> {
  yield* records;
  if (!signal.aborted) return;
  await taken?.();
  throw new Error('Stopped, so there is no export.');
}
