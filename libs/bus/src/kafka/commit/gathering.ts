/** How long a transaction waits for as many records as the one before had, milliseconds. */
const gatherMs = 2;

/**
 * Keeps together what belongs together. A transaction costs nearly the same whatever is in it, but the log lets its readers see it partition by
 * partition: the first of them would begin a transaction of its own, the others the next, and so on at each hop. So a transaction that has fewer
 * records than the one before waits a moment for the rest. Whoever comes alone comes alone again, and does not wait.
 */
export class Gathering {
  #before = 0;
  #look: () => void = () => undefined;

  /** A transaction takes so many records. */
  took(records: number): void {
    this.#before = records;
  }

  /** There may be more than there were. */
  more(): void {
    this.#look();
  }

  /** Resolves when `count` has come up to the transaction before, or no longer is to be waited for. */
  async rest(count: () => number): Promise<void> {
    if (count() >= this.#before) return;
    await new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, gatherMs);
      this.#look = () => {
        if (count() < this.#before) return;
        clearTimeout(patience);
        resolve();
      };
    });
    this.#look = () => undefined;
    // What comes in the same turn of the event loop is told of one by one.
    await new Promise(setImmediate);
  }
}
