import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '@sluice/core';
import { backOffMs } from './outage.js';
import type { Outage } from './outage.js';

/** What a batcher does with what is asked of it. */
export interface BatchWork<Asked, Answer> {
  /** Keys in one statement, at most. */
  readonly limit: number;
  readonly keyOf: (asked: Asked) => string;
  /** One statement for all of them; no key is among them twice. Answers by key; what has none is left out. */
  readonly run: (batch: readonly Asked[]) => Promise<ReadonlyMap<string, Answer>>;
  /** Whether the answer that one got is also what the next one for the key would get, if it were asked right after. */
  readonly serves: (answer: Answer | undefined, next: Asked) => boolean;
}

/** How a batcher bears with a database that is away. */
export interface Patience {
  /** How long one who asks is kept waiting, milliseconds; the try under way comes on top. */
  readonly forMs: number;
  readonly outage: Outage;
  readonly faultOf: (error: unknown) => Fault;
  readonly mayPass: (error: unknown) => boolean;
}

interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  readonly giveUpAt: number;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * One statement at a time: what is asked in the same turn of the event loop, or while a statement is on its way, goes
 * together in the next one. While the database is away all wait, and are asked again. So every statement must bear to
 * be run twice: when a connection breaks, it is unknown whether the statement on it took effect.
 */
export class Batcher<Asked, Answer> {
  private waiting: Waiting<Asked, Answer>[] = [];
  private running: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly work: BatchWork<Asked, Answer>,
    private readonly patience: Patience,
  ) {}

  /** The answer, undefined if there is none for this key. Rejects with Fault('ledger_unreachable'). */
  ask(asked: Asked): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      const giveUpAt = performance.now() + this.patience.forMs;
      this.waiting.push({ asked, giveUpAt, resolve, reject });
      this.running ??= this._work();
    });
  }

  /** Resolves when nothing is under way. Requests that wait for an absent database get one last try. */
  async close(): Promise<void> {
    this.closing.abort();
    while (this.running !== undefined) await this.running;
  }

  private async _work(): Promise<void> {
    for (let failures = 0; this.waiting.length > 0;) {
      await new Promise(setImmediate);
      const batch = this.take();
      try {
        const answers = await this.work.run([...batch.values()].flatMap(([first]) => (first ? [first.asked] : [])));
        failures = 0;
        this.patience.outage.over();
        this.tell(batch, answers);
      } catch (error) {
        const fault = this.patience.faultOf(error);
        if (this.patience.mayPass(error)) await this.bear(batch, fault, ++failures);
        else for (const { reject } of [...batch.values()].flat()) reject(fault);
      }
    }
    this.running = undefined;
  }

  /** Up to the limit of keys, and all who ask for one of these. The others keep their order. */
  private take(): Map<string, Waiting<Asked, Answer>[]> {
    const batch = new Map<string, Waiting<Asked, Answer>[]>();
    const left: Waiting<Asked, Answer>[] = [];
    for (const one of this.waiting) {
      const key = this.work.keyOf(one.asked);
      const same = batch.get(key);
      if (same !== undefined) same.push(one);
      else if (batch.size < this.work.limit) batch.set(key, [one]);
      else left.push(one);
    }
    this.waiting = left;
    return batch;
  }

  /**
   * The first of each key has its answer. Those behind it have it too, until one for whom it is another: that one is
   * asked next.
   */
  private tell(
    batch: ReadonlyMap<string, readonly Waiting<Asked, Answer>[]>,
    answers: ReadonlyMap<string, Answer>,
  ): void {
    const next: Waiting<Asked, Answer>[] = [];
    for (const [key, waiting] of batch) {
      const answer = answers.get(key);
      const other = waiting.findIndex(({ asked }, index) => index > 0 && !this.work.serves(answer, asked));
      const served = other === -1 ? waiting : waiting.slice(0, other);
      for (const { resolve } of served) resolve(answer);
      for (const one of waiting.slice(served.length)) next.push(one);
    }
    this.waiting = next.concat(this.waiting);
  }

  private async bear(
    batch: ReadonlyMap<string, readonly Waiting<Asked, Answer>[]>,
    fault: Fault,
    failures: number,
  ): Promise<void> {
    const closing = this.closing.signal;
    const now = performance.now();
    const all = [...batch.values()].flat().concat(this.waiting);
    this.waiting = [];
    for (const one of all) {
      if (closing.aborted || one.giveUpAt <= now) one.reject(fault);
      else this.waiting.push(one);
    }
    if (this.waiting.length === 0) return;
    this.patience.outage.noticed(fault);
    const earliest = this.waiting.reduce((least, { giveUpAt }) => Math.min(least, giveUpAt), Infinity);
    await pause(Math.min(backOffMs(failures), earliest - now), closing);
  }
}

/** Resolves after the time, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
