import type { Incoming } from '@sluice/bus';
import { positionOf } from '@sluice/contracts';
import type { RunsWithin } from '@sluice/run';

/** Records that wait for a slow reader, at most; a reader that is further behind reads the run again. */
const mostWaiting = 1_000;

/** A reason of our own: the one that is made without takes a stack trace for each run. */
const isOver = new Error('The run is followed no further.');

/** Why a following ended before its run did. */
type CutShort = 'slow' | 'stopping' | 'elsewhere';

/** One reader's share of what is watched: the records of one run, each once, in the order in which they came. */
export class Followed {
  private readonly waiting: Incoming[] = [];
  private readonly told = new Set<string>();
  private wake: (() => void) | undefined;
  private readonly _over = new AbortController();
  private _hasBegun = false;
  private _cutShort: CutShort | null = null;

  /** `forget` is called once, when the last reader is gone. */
  constructor(
    readonly requestId: string,
    /** Whose run it is; records of other tenants under the same ids do not come. */
    readonly tenant: string,
    /** Milliseconds since the epoch. */
    readonly since: number,
    private readonly forget: () => void,
    /** To have the records of the agents’ runs as well. */
    private readonly within?: RunsWithin,
  ) {}

  /** Whether a record of this run is wanted. */
  concerns(requestId: string | null, message: Incoming): boolean {
    return this.within === undefined ? requestId === this.requestId : this.within.of(requestId, message) !== null;
  }

  /** Why nothing more comes; null while it goes on, or if the reader ended it. */
  get cutShort(): CutShort | null {
    return this._cutShort;
  }

  /** Aborted once the last reader is gone. */
  get over(): AbortSignal {
    return this._over.signal;
  }

  /** Whether a record has come. */
  get hasBegun(): boolean {
    return this._hasBegun;
  }

  take(message: Incoming): void {
    if (this.over.aborted) return;
    this._hasBegun = true;
    this.waiting.push(message);
    if (this.waiting.length > mostWaiting) this.end('slow');
    this.wake?.();
  }

  /** True the first time: what was read from the past does not come again. */
  isNews(message: Incoming): boolean {
    const place = positionOf(message);
    if (this.told.has(place)) return false;
    this.told.add(place);
    return true;
  }

  /** The next record; null if none comes in so many milliseconds, undefined if none comes any more. */
  async next(withinMs: number): Promise<Incoming | null | undefined> {
    if (this.waiting.length === 0 && !this.over.aborted) await this.arrival(withinMs);
    if (this._cutShort === 'slow') return undefined;
    for (let message = this.waiting.shift(); message !== undefined; message = this.waiting.shift())
      if (this.isNews(message)) return message;
    return this.over.aborted ? undefined : null;
  }

  end(cutShort: CutShort | null = null): void {
    if (this.over.aborted) return;
    this._cutShort = cutShort;
    this._over.abort(isOver);
    if (cutShort === 'slow') this.waiting.length = 0;
    this.forget();
    this.wake?.();
  }

  private arrival(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.wake?.(), withinMs);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = undefined;
        resolve();
      };
    });
  }
}
