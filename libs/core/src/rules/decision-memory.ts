interface Branch<T> {
  readonly next: Map<number, Branch<T>>;
  readonly byState: Map<number, T>;
}

function newBranch<T>(): Branch<T> {
  return { next: new Map(), byState: new Map() };
}

/** How often a decision was found, how often it had to be made, and how many are held. */
export interface MemoryUse {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
}

/**
 * What was decided for a set of groups and a state, both given as numbers. A tree with one level a group: a look-up
 * is one step a group, and no key has to be built. When it is full it is emptied: a decision is cheap to make again.
 */
export class DecisionMemory<T> {
  private root: Branch<T> = newBranch();
  private branches = 0;
  private entries = 0;
  private hits = 0;
  private misses = 0;

  constructor(private readonly limit: number) {}

  /** `groups` holds `count` different numbers in ascending order. */
  find(groups: Int32Array, count: number, state: number): T | undefined {
    let branch: Branch<T> | undefined = this.root;
    for (let i = 0; i < count && branch !== undefined; i++) branch = branch.next.get(groups[i] as number);
    const found = branch?.byState.get(state);
    if (found === undefined) this.misses++;
    else this.hits++;
    return found;
  }

  store(groups: Int32Array, count: number, state: number, value: T): void {
    // Branches are counted too: a request may name many groups and so make a long path for one entry.
    if (this.entries >= this.limit || this.branches + count > 2 * this.limit) this.clear();
    let branch = this.root;
    for (let i = 0; i < count; i++) {
      const group = groups[i] as number;
      let next = branch.next.get(group);
      if (next === undefined) {
        next = newBranch();
        branch.next.set(group, next);
        this.branches++;
      }
      branch = next;
    }
    branch.byState.set(state, value);
    this.entries++;
  }

  use(): MemoryUse {
    return { hits: this.hits, misses: this.misses, entries: this.entries };
  }

  private clear(): void {
    this.root = newBranch();
    this.branches = 0;
    this.entries = 0;
  }
}
