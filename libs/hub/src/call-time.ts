import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/** The time that a call has. It stands still while a person is asked. */
export class CallTime {
  private readonly ended = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private since = 0;
  private pauses = 0;

  constructor(private leftMs: number) {
    this.run();
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  async paused<T>(work: () => Promise<T>): Promise<T> {
    if (this.pauses++ === 0) this.stop();
    try {
      return await work();
    } finally {
      if (--this.pauses === 0) this.run();
    }
  }

  /** Milliseconds that are left. */
  left(): number {
    return Math.max(1, this.leftMs - (this.timer === undefined ? 0 : performance.now() - this.since));
  }

  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.leftMs -= performance.now() - this.since;
  }

  private run(): void {
    this.since = performance.now();
    this.timer = setTimeout(
      () => this.ended.abort(new SdkError(SdkErrorCode.RequestTimeout, 'The time of the call is up.')),
      Math.max(1, this.leftMs),
    );
  }
}
