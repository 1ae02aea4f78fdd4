const tidyAfter = 1_024;

/** First in, first out. An array’s own shift() moves all that follows, which thousands of small records make slow. */
export class FifoQueue<T> {
  private readonly items: (T | undefined)[] = [];
  private next = 0;

  get first(): T | undefined {
    return this.items[this.next];
  }

  get last(): T | undefined {
    return this.items.at(-1);
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): void {
    // Drops the reference, so that what was taken can be freed.
    this.items[this.next++] = undefined;
    if (this.next < tidyAfter && this.next < this.items.length) return;
    this.items.splice(0, this.next);
    this.next = 0;
  }

  clear(): void {
    this.items.length = 0;
    this.next = 0;
  }
}
