import type { Codec, Topic } from '@sluice/contracts';
import { isBusy } from '@sluice/sqlite';
import { firstBehind } from '../first-behind.js';
import type { Incoming, ReadFrom, ReadOptions } from '../port.js';
import { openStored } from '../processing/stored.js';
import type { Fetch } from './fetch.js';
import type { RecentRecords } from './recent.js';
import { storageFault } from './storage-error.js';
import { patiently } from './store.js';
import { Gate } from '../processing/gate.js';
import type { Wakeups } from './wake.js';

const pageRecords = 256;
const doing = 'The log could not be read';

interface LogReader {
  readonly fetch: Fetch;
  readonly recent: RecentRecords;
  readonly codec: Codec;
  readonly wakeups: Wakeups;
  /** Aborted when the bus closes: followers end then. */
  readonly closed: AbortSignal;
}

/** Records of the topics in the order in which they were appended. Where it begins and ends is settled at the call. */
export function readLog<T extends Topic>(
  topics: readonly T[],
  options: ReadOptions,
  reader: LogReader,
): AsyncIterable<Incoming<T>> {
  const { fetch, wakeups } = reader;
  wakeups.look();
  const cursors = new Map<Topic, number>(topics.map((topic) => [topic, beginning(topic, options.from, fetch)]));
  // Only records of the topics asked for are fetched; the compiler cannot follow that through the codec.
  return iterate(cursors, fetch.end(), options, reader) as AsyncIterable<Incoming<T>>;
}

async function* iterate(
  cursors: Map<Topic, number>,
  end: number,
  { follow = false, signal, ofKey, before = Infinity, onUndecodable }: ReadOptions,
  { fetch, recent, codec, wakeups, closed }: LogReader,
): AsyncGenerator<Incoming, void, undefined> {
  const ending = signal === undefined ? closed : AbortSignal.any([signal, closed]);
  const gate = new Gate();
  const unlisten = follow ? wakeups.listen(gate.open) : () => undefined;
  ending.addEventListener('abort', gate.open);
  try {
    while (!ending.aborted) {
      const places = await patiently(doing, () => fetch.places(cursors, follow ? fetch.knownEnd() : end, pageRecords));
      if (places.length === 0) {
        if (!follow) return;
        await gate.wait();
        continue;
      }
      for (const place of places) {
        if (ending.aborted) return;
        cursors.set(place.topic, place.offset + 1);
        // The index has the time, so the record itself is not read.
        if (place.timestamp >= before) continue;
        const known = recent.find(place);
        const stored =
          known?.stored ?? atOnce(() => fetch.record(place)) ?? (await patiently(doing, () => fetch.record(place)));
        if (stored === undefined || ofKey?.(stored.key) === false) continue;
        // Waiting for what is here already costs more than reading it.
        const opening = known ?? recent.keep(place, openStored(codec, stored));
        const { message, fault } = opening instanceof Promise ? await opening : opening;
        const { topic, value } = stored;
        if (message !== null) yield { ...message, avro: codec.avro(topic, value), writer: codec.writer(topic, value) };
        else if (onUndecodable === undefined) throw fault;
        else onUndecodable({ topic: stored.topic, partition: stored.partition, offset: stored.offset }, fault.message);
      }
      await new Promise(setImmediate);
    }
  } finally {
    unlisten();
    ending.removeEventListener('abort', gate.open);
  }
}

/** Undefined if another process has the file now. */
function atOnce<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw storageFault(doing, error);
  }
}

function beginning(topic: Topic, from: ReadFrom, fetch: Fetch): number {
  if (from === 'start') return 0;
  if (from === 'end') return fetch.endOf(topic);
  if ('time' in from) return fetch.offsetAt(topic, from.time);
  if ('after' in from) return firstBehind(from.after(topic, 0), { beginning: 0, end: fetch.endOf(topic) });
  // There is one partition here, so there is nothing in any other.
  return (from.partition ?? 0) === 0 ? from.offset : fetch.endOf(topic);
}
