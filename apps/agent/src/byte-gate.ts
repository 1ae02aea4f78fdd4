interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Lets work hold so many bytes together. Who comes first goes first; what is larger than all goes alone. */
export class ByteGate {
  private held = 0;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly most: number) {}

  /** Rejects with the signal’s reason where that aborts while the work waits. */
  async within<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.entered(bytes, signal);
    try {
      return await work();
    } finally {
      this.held -= bytes;
      this.admit();
    }
  }

  private entered(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const giveUp = (): void => {
        this.waiting.splice(this.waiting.indexOf(one), 1);
        reject(signal.reason as Error);
        this.admit();
      };
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const one: Waiting = { bytes, enter };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiting.push(one);
      this.admit();
    });
  }

  private admit(): void {
    for (let [next] = this.waiting; next !== undefined; [next] = this.waiting) {
      if (this.held > 0 && this.held + next.bytes > this.most) return;
      this.waiting.shift();
      this.held += next.bytes;
      next.enter();
    }
  }
}
