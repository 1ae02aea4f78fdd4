/** A page of a list, and what the next one is asked for by; null behind the last. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | number | null;
}

/** A list that is read page by page as it is walked through: `for await (const run of runs.list())`. */
export class Pages<T> implements AsyncIterable<T> {
  constructor(private readonly read: (after: string | number | null) => Promise<Page<T>>) {}

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let after: string | number | null = null; ;) {
      const page: Page<T> = await this.read(after);
      yield page;
      if (page.next === null) return;
      after = page.next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** The first page. */
  first(): Promise<Page<T>> {
    return this.read(null);
  }

  /** The page behind the one that had this `next`. */
  after(next: string | number): Promise<Page<T>> {
    return this.read(next);
  }

  /** The first so many, or all. */
  async take(most = Infinity): Promise<readonly T[]> {
    const taken: T[] = [];
    if (most <= 0) return taken;
    for await (const item of this) if (taken.push(item) >= most) break;
    return taken;
  }
}
