/**
 * Whether one record’s handling was revoked. The signal is made on first use: few handlers use it, and a signal is
 * expensive.
 */
export class Revocation {
  private controller: AbortController | undefined;
  private reason: Error | undefined;

  get revoked(): boolean {
    return this.reason !== undefined;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Only the first reason counts. */
  revoke(reason: Error): void {
    this.reason ??= reason;
    this.controller?.abort(this.reason);
  }
}
