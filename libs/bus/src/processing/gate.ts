/**
 * Lets one waiter through for each time it was opened; opened without a waiter, it lets the next one through at once.
 */
export class Gate {
  private _open = false;
  private waiter: (() => void) | undefined;

  readonly open = (): void => {
    this._open = true;
    this.waiter?.();
  };

  async wait(): Promise<void> {
    if (!this._open) {
      await new Promise<void>((resolve) => {
        this.waiter = resolve;
      });
    }
    this.waiter = undefined;
    this._open = false;
  }
}
