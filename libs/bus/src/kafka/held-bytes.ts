/**
 * Payload bytes that a consumer's partitions have in work, together: decoded, asked about and encoded again they take several times as much.
 * Beyond the limit each partition still has its share of it, and one record if that is larger, so that none waits for another one's stuck session.
 */
export class HeldBytes {
  #bytes = 0;
  readonly #waiting = new Set<() => void>();

  /** `partitions` is how many the consumer holds now. */
  constructor(
    private readonly limit: number,
    private readonly partitions: () => number,
  ) {}

  /** Whether a partition that has so much in work may take one more record. */
  hasRoom(own: number): boolean {
    return own === 0 || this.#bytes <= this.limit || own <= this.limit / this.partitions();
  }

  take(bytes: number): void {
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes > this.limit) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell();
  }

  /** Calls it once, when all together are within the limit again. */
  whenWithin(tell: () => void): void {
    this.#waiting.add(tell);
  }

  forget(tell: () => void): void {
    this.#waiting.delete(tell);
  }
}
