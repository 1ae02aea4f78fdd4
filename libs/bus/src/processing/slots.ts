/** Room for a number of records in work. Who finds none waits in line; each gets a slot in the order it asked. */
export class Slots {
  #taken = 0;
  #closed = false;
  readonly #line: ((granted: boolean) => void)[] = [];

  constructor(private readonly limit: number) {
    if (!(limit >= 1))
      throw new RangeError(`maxInFlight is ${limit}, so nothing would ever be handled. Make it 1 or more.`);
  }

  get taken(): number {
    return this.#taken;
  }

  /** Resolves with false if the slots are closed. A plain value where a slot is free. */
  take(): boolean | Promise<boolean> {
    if (this.#closed) return false;
    if (this.#taken < this.limit && this.#line.length === 0) {
      this.#taken++;
      return true;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  free(count: number): void {
    this.#taken -= count;
    while (this.#taken < this.limit) {
      const first = this.#line.shift();
      if (first === undefined) return;
      this.#taken++;
      first(true);
    }
  }

  /** Nothing is granted any more. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#line.splice(0)) waiting(false);
  }
}
