/** Each bucket is so much wider than the one before: a quantile is right to 2 %. */
const growth = 1.04;

/** Latencies in buckets, so that a load that runs for days needs no more room than one of a minute. Milliseconds. */
export class Latencies {
  private readonly buckets = new Map<number, number>();
  private counted = 0;
  private longest = 0;

  get count(): number {
    return this.counted;
  }

  get max(): number {
    return this.longest;
  }

  add(ms: number): void {
    const bucket = Math.round(Math.log(Math.max(1, ms)) / Math.log(growth));
    this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + 1);
    this.counted++;
    this.longest = Math.max(this.longest, ms);
  }

  /** Null while there is none. */
  quantile(share: number): number | null {
    let left = Math.ceil(share * this.counted);
    for (const [bucket, count] of [...this.buckets].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.min(this.longest, growth ** bucket);
    }
    return null;
  }
}
