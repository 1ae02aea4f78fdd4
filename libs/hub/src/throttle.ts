/** Tells at once, and what comes in quick succession once more at its end. */
export class Throttle {
  private toldAt = -Infinity;
  private planned: NodeJS.Timeout | undefined;

  constructor(
    private readonly everyMs: number,
    private readonly tell: () => void,
  ) {}

  happened(): void {
    if (this.planned !== undefined) return;
    const wait = this.toldAt + this.everyMs - performance.now();
    if (wait <= 0) this.now();
    else this.planned = setTimeout(() => this.now(), wait).unref();
  }

  stop(): void {
    clearTimeout(this.planned);
  }

  private now(): void {
    this.planned = undefined;
    this.toldAt = performance.now();
    this.tell();
  }
}
