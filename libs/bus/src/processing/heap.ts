/** What a heap holds keeps its index there, -1 while it is in none. */
export interface Queued {
  index: number;
}

/** A binary heap whose entries may change their place in the order: each act takes as many steps as its depth. */
export class Heap<T extends Queued> {
  private readonly entries: T[] = [];

  constructor(private readonly isSooner: (one: T, other: T) => boolean) {}

  get first(): T | undefined {
    return this.entries[0];
  }

  push(entry: T): void {
    this.put(entry, this.entries.length);
    this.up(entry);
  }

  /** Puts an entry that changed where it belongs now. */
  moved(entry: T): void {
    this.up(entry);
    this.down(entry);
  }

  remove(entry: T): void {
    const { index } = entry;
    const last = this.entries.pop();
    entry.index = -1;
    if (last === undefined || last === entry) return;
    this.put(last, index);
    this.moved(last);
  }

  private up(entry: T): void {
    for (;;) {
      const parent = entry.index === 0 ? undefined : this.entries[(entry.index - 1) >> 1];
      if (parent === undefined || !this.isSooner(entry, parent)) return;
      this.swap(entry, parent);
    }
  }

  private down(entry: T): void {
    for (;;) {
      const left = this.entries[2 * entry.index + 1];
      const right = this.entries[2 * entry.index + 2];
      const child = left !== undefined && right !== undefined && this.isSooner(right, left) ? right : left;
      if (child === undefined || !this.isSooner(child, entry)) return;
      this.swap(entry, child);
    }
  }

  private swap(one: T, other: T): void {
    const { index } = one;
    this.put(one, other.index);
    this.put(other, index);
  }

  private put(entry: T, index: number): void {
    entry.index = index;
    this.entries[index] = entry;
  }
}
