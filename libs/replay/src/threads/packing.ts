import { allTopics, positionOf } from '@sluice/contracts';
import type { Codec, DeadLetter } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { recordsOf } from '../runs.js';
import type { DeadLetters, Gathered, Held, RunRecords } from '../run-records.js';

/**
 * Runs on their way to a thread: the Avro of their records one behind the other in memory that is given away, and
 * what stands beside it. A record that has no Avro of today goes as it is.
 */
export interface Packed {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly runs: readonly PackedRun[];
  /** Schemas of former versions that records were written with. */
  readonly writers: readonly string[];
}

interface PackedRun {
  readonly requestId: string;
  readonly messages: readonly PackedMessage[];
  readonly dead: readonly (readonly [string, DeadLetter])[];
}

/**
 * Topic (its place among all), partition, offset, timestamp, key, headers; bytes of Avro, or the record; its writer’s
 * place among the writers, or -1: a list costs less on the way than names.
 */
type PackedMessage = readonly [
  number,
  number,
  number,
  number,
  string,
  Incoming['headers'],
  number | Incoming['record'],
  number,
];

/** What a record is counted as whose bytes are not counted. */
const typicalBytes = 8 * 1024;

/** Runs that go to a thread together. */
export class Packing {
  private readonly runs: PackedRun[] = [];
  private readonly writers: string[] = [];
  private readonly avro: Buffer[] = [];
  private avroBytes = 0;
  private apart = 0;

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  /** Of the records, about. */
  get bytes(): number {
    return this.avroBytes + this.apart * typicalBytes;
  }

  /** Of the dead letters those that can have ended the run, as they are now. */
  add({ requestId, messages }: Gathered, dead: DeadLetters): void {
    this.runs.push({
      requestId,
      messages: messages.map((message) => this.message(message)),
      dead: own(messages, dead),
    });
  }

  pack(): Packed {
    const bytes = new Uint8Array(new ArrayBuffer(this.avroBytes));
    let at = 0;
    for (const avro of this.avro) {
      bytes.set(avro, at);
      at += avro.length;
    }
    return { bytes, runs: this.runs, writers: this.writers };
  }

  private message({
    topic,
    partition,
    offset,
    timestamp,
    key,
    headers,
    record,
    avro,
    writer = null,
  }: Held): PackedMessage {
    const place = [allTopics.indexOf(topic), partition, offset, timestamp, key, headers] as const;
    if (avro === null) {
      this.apart++;
      return [...place, record, writer === null ? -1 : this.numberOf(writer)];
    }
    this.avro.push(avro);
    this.avroBytes += avro.length;
    return [...place, avro.length, -1];
  }

  private numberOf(writer: string): number {
    const at = this.writers.indexOf(writer);
    return at === -1 ? this.writers.push(writer) - 1 : at;
  }
}

function own(messages: readonly Held[], dead: DeadLetters): PackedRun['dead'] {
  if (dead.size === 0) return [];
  const places = new Set(messages.map(positionOf));
  return [...dead].filter(([place, { code }]) => places.has(place) || code === 'undecodable');
}

/** Each run as it was before it was packed, when it is asked for. */
export function* unpack(
  { bytes, runs, writers }: Packed,
  codec: Codec,
): Generator<{ readonly run: RunRecords; readonly dead: DeadLetters }, void, undefined> {
  const all = Buffer.from(bytes.buffer);
  let at = 0;
  for (const { requestId, messages, dead } of runs) {
    const held = messages.map(([number, partition, offset, timestamp, key, headers, content, by]): Held => {
      const place = { topic: allTopics[number] as Held['topic'], partition, offset, timestamp, key, headers };
      if (typeof content !== 'number') return { ...place, record: content, avro: null, writer: writers[by] ?? null };
      return { ...place, record: null, avro: all.subarray(at, (at += content)) };
    });
    yield { run: recordsOf(requestId, held, codec), dead: new Map(dead) };
  }
}
