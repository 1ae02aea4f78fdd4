import type { Slots } from './slots.js';

/** A record’s place among those at work, in its tenant’s turn. It gives it up while it waits for what is elsewhere, and has its turn again then. */
export class TurnAtWork {
  #isTaken = false;
  /** Waits under way: a record can wait for several things at once. */
  #aside = 0;

  constructor(
    private readonly working: Slots | undefined,
    private readonly tenant: string,
  ) {}

  async take(): Promise<void> {
    if (this.working === undefined) return;
    const granted = this.working.take(this.tenant);
    this.#isTaken = granted instanceof Promise ? await granted : granted;
  }

  free(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.working?.free(this.tenant);
  }

  async aside<T>(wait: () => Promise<T>): Promise<T> {
    this.#aside++;
    this.free();
    try {
      return await wait();
    } finally {
      this.#aside--;
      if (this.#aside === 0) await this.take();
    }
  }
}
