import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@sluice/contracts';
import type { StoredPosition, TopicIds } from './append.js';

/** So many of a topic’s last positions are kept at least, where this process wrote them. */
const positionsKept = 1_024;

/** What the log’s next record will get, at one moment: its sequence number, and its offset in each topic. */
interface End {
  readonly seq: number;
  readonly offsets: ReadonlyMap<Topic, number>;
}

/**
 * The log’s end and what stands before it, as this process knows them. Every append wakes all who follow the log, and
 * each would ask the file for each of its topics. So what this process appends is known without the file, and what
 * another one does is read once for all, after this process has heard of it.
 */
export class Tail {
  private end: End | undefined;
  /** Of each topic positions without a gap, in order. */
  private readonly last = new Map<Topic, StoredPosition[]>();
  /** Of the transaction that is under way. */
  private pending: StoredPosition[] = [];
  private readonly query: () => End;

  constructor(database: DatabaseSync, ids: TopicIds) {
    const topicOf = new Map([...ids].map(([topic, id]) => [id, topic]));
    // One statement, so that other processes’ commits stand in both numbers or in none.
    const query = database.prepare('SELECT id, next_offset, (SELECT next_seq FROM log) AS next_seq FROM topics');
    this.query = () => {
      const offsets = new Map<Topic, number>();
      let seq = NaN;
      for (const row of query.all()) {
        const topic = topicOf.get(row['id'] as number);
        if (topic !== undefined) offsets.set(topic, row['next_offset'] as number);
        seq = row['next_seq'] as number;
      }
      return { seq, offsets };
    };
  }

  /** The end as the file has it now. */
  read(): End {
    return (this.end = this.query());
  }

  /**
   * The end as it was when something changed last, as far as this process has heard; never before the record with this
   * sequence number was there.
   */
  known(before = 0): End {
    return this.end !== undefined && this.end.seq >= before ? this.end : this.read();
  }

  /** The first `limit` positions of the topic from an offset on; undefined where only the file has all to its end. */
  from(topic: Topic, offset: number, end: number, limit: number): readonly StoredPosition[] | undefined {
    const positions = this.last.get(topic) ?? [];
    const at = offset - (positions[0]?.offset ?? Infinity);
    return at >= 0 && offset + positions.length - at === end ? positions.slice(at, at + limit) : undefined;
  }

  /** Another process changed the log, or records were removed from it. */
  changed(): void {
    this.end = undefined;
    this.last.clear();
  }

  /** A transaction begins; what the one before it appended and did not commit is not on the log. */
  begins(): void {
    this.pending = [];
  }

  appended(position: StoredPosition): void {
    this.pending.push(position);
  }

  committed(): void {
    const { pending } = this;
    this.pending = [];
    const [first] = pending;
    if (first === undefined) return;
    // Otherwise another process has appended before, of which this one has not heard.
    this.end = this.end?.seq === first.seq ? behind(this.end, pending) : undefined;
    for (const position of pending) this.keep(position);
  }

  private keep(position: StoredPosition): void {
    const { topic, offset } = position;
    const positions = this.last.get(topic);
    if (positions?.at(-1)?.offset !== offset - 1) this.last.set(topic, [position]);
    else if (positions.push(position) > 2 * positionsKept) positions.splice(0, positionsKept);
  }
}

function behind({ seq, offsets }: End, appended: readonly StoredPosition[]): End {
  const after = new Map(offsets);
  for (const { topic, offset } of appended) after.set(topic, offset + 1);
  return { seq: seq + appended.length, offsets: after };
}
