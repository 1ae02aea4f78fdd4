/**
 * What of one partition is finished: everything below `prefix`, and ranges beyond it. The ranges are
 * never more than the records under way and waiting plus one, however long the log grows behind a stuck record.
 */
export class Position {
  private readonly firsts: number[] = [];
  private readonly pasts: number[] = [];
  private readonly changed = new Set<number>();

  constructor(private start: number) {}

  /** The first offset that is not finished. */
  get prefix(): number {
    return this.start;
  }

  /** Past the last offset that is finished. */
  get end(): number {
    return this.pasts.at(-1) ?? this.start;
  }

  /** What is finished beyond the prefix: rising, and not touching each other. */
  get ranges(): readonly { readonly first: number; readonly past: number }[] {
    return this.firsts.map((first, index) => ({ first, past: this.pasts[index] as number }));
  }

  /** The first offset from this one on that is not finished. */
  unfinishedFrom(offset: number): number {
    if (offset < this.start) return this.start;
    const index = firstAtLeast(this.pasts, offset + 1);
    const first = this.firsts[index];
    return first !== undefined && first <= offset ? (this.pasts[index] as number) : offset;
  }

  /** How many offsets below `end` are not finished. */
  unfinishedBelow(end: number): number {
    const beyond = this.firsts.reduce(
      (sum, first, index) => sum + Math.max(0, Math.min(this.pasts[index] as number, end) - first),
      0,
    );
    return Math.max(0, end - this.start - beyond);
  }

  /** Everything from `first` up to, but without, `past` is finished. Saying so again changes nothing. */
  finish(first: number, past: number): void {
    if (past <= this.start) return;
    if (first <= this.start) {
      this.start = past;
      this.absorb();
      return;
    }
    const from = firstAtLeast(this.pasts, first);
    let to = from;
    let low = first;
    let high = past;
    for (; to < this.firsts.length && (this.firsts[to] as number) <= past; to++) {
      const joined = this.firsts[to] as number;
      low = Math.min(low, joined);
      high = Math.max(high, this.pasts[to] as number);
      this.changed.add(joined);
    }
    this.firsts.splice(from, to - from, low);
    this.pasts.splice(from, to - from, high);
    this.changed.add(low);
  }

  /** Ranges, each named by its first offset, that came, grew or (null) went since the last `saved`. */
  changes(): readonly { readonly first: number; readonly past: number | null }[] {
    return [...this.changed].map((first) => {
      const index = firstAtLeast(this.firsts, first);
      return { first, past: this.firsts[index] === first ? (this.pasts[index] as number) : null };
    });
  }

  /** The changes are on the log. */
  saved(): void {
    this.changed.clear();
  }

  /** Takes in the ranges that the prefix has reached. */
  private absorb(): void {
    let reached = 0;
    for (; reached < this.firsts.length && (this.firsts[reached] as number) <= this.start; reached++) {
      this.changed.add(this.firsts[reached] as number);
      this.start = Math.max(this.start, this.pasts[reached] as number);
    }
    this.firsts.splice(0, reached);
    this.pasts.splice(0, reached);
  }
}

/** Index of the first value of an ascending list that is at least `bound`. */
function firstAtLeast(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
