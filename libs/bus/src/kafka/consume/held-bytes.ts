/**
 * Payload bytes that a consumer's partitions have in work, together: decoded, asked about and encoded again they take several times as much. Half of
 * the limit is for whoever comes first. The other half is divided, so that no partition waits for another one's stuck session; nor for its share to be
 * large enough for a single record.
 */
export class HeldBytes {
  #bytes = 0;
  readonly #half: number;
  readonly #waiting = new Set<() => void>();

  /** `partitions` is how many the consumer holds now. */
  constructor(
    limit: number,
    private readonly partitions: () => number,
  ) {
    this.#half = limit / 2;
  }

  /** Whether a partition that has so much in work may take one more record. */
  hasRoom(own: number): boolean {
    return own === 0 || this.#bytes <= this.#half || own <= this.#half / this.partitions();
  }

  take(bytes: number): void {
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes > this.#half) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell();
  }

  /** Calls it once, when there is room for whoever comes first. */
  whenThereIsRoom(tell: () => void): void {
    this.#waiting.add(tell);
  }

  forget(tell: () => void): void {
    this.#waiting.delete(tell);
  }
}
