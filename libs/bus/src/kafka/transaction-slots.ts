/** Of the partitions that a consumer holds, one in so many may have a transaction under way; but always as many as `atLeast`. */
const oneIn = 4;
const atLeast = 2;
/** A transaction takes milliseconds. One that takes longer, since its coordinator is away, holds up no other partition's; milliseconds. */
const patienceMs = 250;

/**
 * Room for a few transactions of one consumer at a time. What finishes while a partition waits goes into the same transaction, so that
 * under load there are fewer and larger ones: each costs broker and client three requests or more, whatever is in it.
 */
export class TransactionSlots {
  #taken = 0;
  readonly #line = new Set<() => void>();

  /** `partitions` is how many the consumer holds now. */
  constructor(private readonly partitions: () => number) {}

  get isIdle(): boolean {
    return this.#taken === 0;
  }

  /** Does the work when there is room, in the order of asking; nothing at all if `givenUp` aborts before. */
  async run(work: () => Promise<void>, givenUp: AbortSignal): Promise<void> {
    if (!(await this.#room(givenUp))) return;
    if (givenUp.aborted) {
      this.#free();
      return;
    }
    let held = true;
    const free = (): void => {
      if (!held) return;
      held = false;
      this.#free();
    };
    const impatience = setTimeout(free, patienceMs);
    try {
      await work();
    } finally {
      clearTimeout(impatience);
      free();
    }
  }

  async #room(givenUp: AbortSignal): Promise<boolean> {
    if (givenUp.aborted) return false;
    if (this.#hasRoom && this.#line.size === 0) {
      this.#taken++;
      return true;
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#line.delete(enter);
        resolve(false);
      };
      const enter = (): void => {
        givenUp.removeEventListener('abort', leave);
        this.#line.delete(enter);
        this.#taken++;
        resolve(true);
      };
      this.#line.add(enter);
      givenUp.addEventListener('abort', leave, { once: true });
    });
  }

  #free(): void {
    this.#taken--;
    for (const enter of this.#line) {
      if (!this.#hasRoom) return;
      enter();
    }
  }

  get #hasRoom(): boolean {
    return this.#taken < Math.max(atLeast, Math.ceil(this.partitions() / oneIn));
  }
}
