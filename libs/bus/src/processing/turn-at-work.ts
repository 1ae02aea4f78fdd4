import type { Room } from './slots.js';

/** Who is at work for longer waits for something, whether it says so or not; milliseconds. */
const patienceMs = 250;

/**
 * One attempt’s place among those at work, in its tenant’s turn. It gives the place up while it waits for what is
 * elsewhere, and has its turn again then. A handler that does not say that it waits loses the place after a while and
 * goes on without one: else as many as there are places would stop all others.
 */
export class TurnAtWork {
  private isTaken = false;
  private isOver = false;
  /** Waits under way: a record can wait for several things at once. */
  private _aside = 0;
  private taking: Promise<void> | undefined;
  private patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly working: Room | undefined,
    private readonly tenant: string,
  ) {}

  /** Resolves when it has the place, or needs none. */
  async take(): Promise<void> {
    if (this.working === undefined || this.isTaken || this.isOver) return;
    this.taking ??= this._take(this.working).finally(() => (this.taking = undefined));
    await this.taking;
  }

  /** Waits that are still under way take no place any more. */
  end(): void {
    this.isOver = true;
    this.free();
  }

  async aside<T>(wait: () => Promise<T>): Promise<T> {
    this._aside++;
    this.free();
    try {
      return await wait();
    } finally {
      this._aside--;
      if (this._aside === 0) await this.take();
    }
  }

  private async _take(working: Room): Promise<void> {
    const granted = working.take(this.tenant);
    if (!(granted instanceof Promise ? await granted : granted)) return;
    this.isTaken = true;
    // While it stood in line the attempt may have ended, or begun to wait for something else.
    if (this.isOver || this._aside > 0) this.free();
    else this.patience = setTimeout(() => this.free(), patienceMs);
  }

  private free(): void {
    if (!this.isTaken) return;
    clearTimeout(this.patience);
    this.isTaken = false;
    this.working?.free(this.tenant);
  }
}
