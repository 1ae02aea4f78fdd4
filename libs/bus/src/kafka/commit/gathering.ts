/** How long a transaction waits for as many records as the one before had, milliseconds. */
const gatherMs = 2;

/**
 * Delays a transaction by up to 2 ms while it has fewer records than the one before. A transaction costs nearly the
 * same whatever its size, but its readers see it partition by partition, so a batch would break up into ever smaller
 * transactions at each hop. A lone record is not delayed.
 */
export class Gathering {
  private before = 0;
  private look: () => void = () => undefined;

  /** A transaction takes so many records. */
  took(records: number): void {
    this.before = records;
  }

  /** There may be more than there were. */
  more(): void {
    this.look();
  }

  /** Resolves when `count` has come up to the transaction before, or no longer is to be waited for. */
  async rest(count: () => number): Promise<void> {
    if (count() >= this.before) return;
    await new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, gatherMs);
      this.look = () => {
        if (count() < this.before) return;
        clearTimeout(patience);
        resolve();
      };
    });
    this.look = () => undefined;
    // Records that come in the same tick are reported one by one.
    await new Promise(setImmediate);
  }
}
