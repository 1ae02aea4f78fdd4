import { shareRecord } from '@sluice/contracts';
import type { Codec } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import { credentialOf } from '../processing/credential.js';
import type { Encoded } from '../processing/outputs.js';
import { openStored } from '../processing/stored.js';
import type { Opened, Stored } from '../processing/stored.js';
import type { StoredPosition } from './append.js';

/** Payload bytes of the records that are kept; in memory a record takes several times as much. */
const mostBytes = 4 * 1024 * 1024;
/** Older records are read by a consumer that catches up, and hardly by others too. */
const recentMs = 10_000;
const rotateMs = 5_000;

/** A record that this process wrote and none of its readers has read. */
interface Written {
  readonly stored: Stored;
  /** What it was written from, if that is shared. */
  readonly record: object | undefined;
}

/**
 * Records that were written or read a moment ago: most are read by all services of a process, one after another, so
 * they are fetched and decoded once. All get the same frozen object. A record with a credential is not kept, since
 * that is blanked.
 */
export class RecentRecords {
  private lately = new Map<number, Opened | Written>();
  private before = new Map<number, Opened | Written>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Of the transaction that is under way. */
  private pending: { readonly seq: number; readonly written: Written }[] = [];

  constructor(
    private readonly codec: Codec,
    private readonly clock: Clock,
  ) {}

  find(place: StoredPosition): Opened | undefined {
    const known = this.lately.get(place.seq) ?? this.before.get(place.seq);
    if (known === undefined || 'session' in known) return known;
    const opened = openStored(this.codec, known.stored);
    // Of a schema that was not known before: who reads it fetches it, and reports what is wrong with it.
    if (opened instanceof Promise) void opened.catch(() => undefined);
    if (opened instanceof Promise || opened.message === null) return undefined;
    if (this.lately.has(place.seq)) this.lately.set(place.seq, opened);
    else this.put(place.seq, opened);
    return shared(opened, known.record);
  }

  /** Gives what it got. */
  keep<T extends Opened | Promise<Opened>>({ seq, timestamp }: StoredPosition, opened: T): T {
    // A promise is of a schema that was not known before: hardly any is.
    if (opened instanceof Promise || opened.message === null || this.clock.now() - timestamp > recentMs) return opened;
    if (credentialOf(opened.stored.headers) === undefined) this.put(seq, shared(opened));
    return opened;
  }

  /** A transaction begins; what the one before it appended and did not commit is not on the log. */
  begins(): void {
    this.pending = [];
  }

  appended({ key, value, headers, record }: Encoded, { topic, offset, seq, timestamp }: StoredPosition): void {
    if (credentialOf(headers) !== undefined) return;
    const stored = { topic, partition: 0, offset, key, value, headers: { ...headers }, timestamp };
    this.pending.push({ seq, written: { stored, record } });
  }

  committed(): void {
    for (const { seq, written } of this.pending) this.put(seq, written);
    this.pending = [];
  }

  /** Another process may have changed or removed what is kept. */
  clear(): void {
    this.rotate();
    this.rotate();
  }

  private put(seq: number, kept: Opened | Written): void {
    const { byteLength } = kept.stored.value;
    if (this.bytes + byteLength > mostBytes / 2) this.rotate();
    this.bytes += byteLength;
    this.lately.set(seq, kept);
    this.timer ??= setInterval(() => this.rotate(), rotateMs).unref();
  }

  private rotate(): void {
    this.before = this.lately;
    this.lately = new Map();
    this.bytes = 0;
    if (this.before.size > 0 || this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function shared(opened: Opened, from?: object): Opened {
  const { message } = opened;
  if (message === null) return opened;
  shareRecord<object>(message.record, from);
  Object.freeze(message.headers);
  Object.freeze(message);
  return opened;
}
