const pollMs = 20;

/**
 * Tells listeners that there may be new records: at once for this bus's own, by polling for those of other processes.
 */
export class Wakeups {
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private _version: number | undefined;

  /** `version` changes whenever another connection commits; `changed` hears of that before the listeners do. */
  constructor(
    private readonly version: () => number,
    private readonly changed: () => void,
  ) {}

  /** Returns what ends the listening. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    this.timer ??= setInterval(() => this.look(), pollMs);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Looks now whether another connection has committed, for who has to know what the file has at this moment. */
  look(): void {
    let version: number | undefined;
    try {
      version = this.version();
    } catch {
      // A listener reads next, meets the same error and reports it; `undefined` makes the poll after it wake them
      // again.
      version = undefined;
    }
    if (version !== undefined && version === this._version) return;
    this._version = version;
    this.changed();
    this.notify();
  }
}
