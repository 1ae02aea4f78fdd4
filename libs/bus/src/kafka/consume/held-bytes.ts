/**
 * Payload bytes that a consumer's partitions have in work. Decoded and encoded again they take several times as much
 * memory. Half the budget is first come, first served; the rest is split evenly, so that a stuck session cannot
 * starve other partitions. Every partition may hold one record, however large.
 */
export class HeldBytes {
  private bytes = 0;
  private readonly half: number;
  private readonly waiting = new Set<() => void>();

  /** `partitions` is how many the consumer holds now. */
  constructor(
    limit: number,
    private readonly partitions: () => number,
  ) {
    this.half = limit / 2;
  }

  /** Whether a partition that has so much in work may take one more record. */
  hasRoom(own: number): boolean {
    return own === 0 || this.bytes <= this.half || own <= this.half / this.partitions();
  }

  take(bytes: number): void {
    this.bytes += bytes;
  }

  release(bytes: number): void {
    this.bytes -= bytes;
    if (this.bytes > this.half) return;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const tell of waiting) tell();
  }

  /** Calls it once, when there is room in the shared half. */
  whenThereIsRoom(tell: () => void): void {
    this.waiting.add(tell);
  }

  forget(tell: () => void): void {
    this.waiting.delete(tell);
  }
}
