const nothing = (): void => undefined;

/** The time limit of a call. It does not run while a person is asked, and begins again behind the answer. */
export class CallLimit {
  private pauses = 0;
  private stop = nothing;
  private start = (): typeof nothing => nothing;

  /** Runs from now on; returns what ends it. */
  run(start: () => typeof nothing): typeof nothing {
    this.start = start;
    this.stop = start();
    return () => {
      this.start = () => nothing;
      this.stop();
    };
  }

  async paused<T>(work: () => Promise<T>): Promise<T> {
    if (this.pauses++ === 0) this.stop();
    try {
      return await work();
    } finally {
      if (--this.pauses === 0) this.stop = this.start();
    }
  }
}
