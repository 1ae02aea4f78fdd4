import type { DeadLetters, Gathered } from '../run-records.js';
import { found } from '../work.js';
import type { Done } from '../work.js';
import { Packing } from './packing.js';
import type { Pool } from './pool.js';

/** Bytes that go to a thread at a time, about: much more than what sending costs, little to hold. */
const packageBytes = 256 * 1024;

type Sent<R> = Promise<readonly Done<R>[]> | (() => void);

/** Gives runs to threads and takes back what they find, in the order in which it was given: as one thread does it. */
export class Spread<R> {
  private packing = new Packing();
  private readonly sent: Sent<R>[] = [];

  constructor(private readonly pool: Pool<R>) {}

  add(run: Gathered, dead: DeadLetters): void {
    this.packing.add(run, dead);
    if (this.packing.bytes >= packageBytes) this.send();
  }

  /** To be done once everything before it was taken. */
  tell(what: () => void): void {
    this.send();
    this.sent.push(what);
  }

  /** What came back, as soon as so much is under way that more would only be held. */
  async *taken(): AsyncGenerator<R, void, undefined> {
    while (this.sent.length > this.pool.room) yield* this.next();
  }

  /** Everything that is still to come. */
  async *all(): AsyncGenerator<R, void, undefined> {
    this.send();
    while (this.sent.length > 0) yield* this.next();
  }

  private async *next(): AsyncGenerator<R, void, undefined> {
    const sent = this.sent.shift();
    if (typeof sent === 'function') return sent();
    try {
      for (const done of (await sent) ?? []) yield* found(done);
    } catch (error) {
      // What comes after a failure is not reported.
      this.sent.length = 0;
      this.packing = new Packing();
      throw error;
    }
  }

  private send(): void {
    if (this.packing.isEmpty) return;
    this.sent.push(this.pool.send(this.packing.pack()));
    this.packing = new Packing();
  }
}
