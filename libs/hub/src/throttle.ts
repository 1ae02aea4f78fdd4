/** Reports an event at once, and those that follow in quick succession once more, at their end. */
export class Throttle {
  private reportedAt = -Infinity;
  private planned: NodeJS.Timeout | undefined;

  constructor(
    private readonly everyMs: number,
    private readonly report: () => void,
  ) {}

  happened(): void {
    if (this.planned !== undefined) return;
    const wait = this.reportedAt + this.everyMs - performance.now();
    if (wait <= 0) this.now();
    else this.planned = setTimeout(() => this.now(), wait).unref();
  }

  stop(): void {
    clearTimeout(this.planned);
  }

  private now(): void {
    this.planned = undefined;
    this.reportedAt = performance.now();
    this.report();
  }
}
