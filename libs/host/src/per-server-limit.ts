/** Room for so much work at once at each place; what finds none waits, in the order of asking. */
export class PerServerLimit {
  private readonly places = new Map<string, { taken: number; readonly waiting: (() => void)[] }>();

  /** Runs the work when there is room. Rejects with the signal's reason if that comes first. */
  async in<T>(place: string, signal: AbortSignal, work: () => Promise<T>, atOnce: number): Promise<T> {
    await this.enter(place, signal, atOnce);
    try {
      return await work();
    } finally {
      this.leave(place);
    }
  }

  private enter(place: string, signal: AbortSignal, atOnce: number): Promise<void> {
    signal.throwIfAborted();
    let at = this.places.get(place);
    if (at === undefined) this.places.set(place, (at = { taken: 0, waiting: [] }));
    const { waiting } = at;
    if (at.taken < atOnce) {
      at.taken++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(enter);
    });
  }

  /** The place goes to the next in line, or is free. */
  private leave(place: string): void {
    const at = this.places.get(place);
    const next = at?.waiting.shift();
    if (next !== undefined) next();
    else if (at !== undefined && --at.taken === 0) this.places.delete(place);
  }
}
