import { once } from 'node:events';
import type { Writable } from 'node:stream';

/**
 * Standard output as its reader takes it. Behind a pipe Node keeps what the reader has not taken yet in memory, and
 * loses it when the process exits: so a loop over a log waits for `taken`, and the process for `flushed` before it
 * ends.
 */
export class Output {
  /** Resolves when nothing can be written any more. */
  readonly gone: Promise<string>;
  private failure: NodeJS.ErrnoException | null = null;

  constructor(private readonly stream: Writable) {
    this.gone = new Promise((resolve) => {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        this.failure ??= error;
        resolve('standard output is gone');
      });
    });
  }

  /** Whether the reader has had enough, as that of `sluice tail | head` has once it has its lines. */
  get hasNoReader(): boolean {
    return this.failure?.code === 'EPIPE';
  }

  write(text: string | Uint8Array): void {
    if (this.failure === null) this.stream.write(text);
  }

  /** Resolves as soon as the reader has room for more. Throws if nothing can be written any more. */
  async taken(): Promise<void> {
    this.check();
    if (!this.stream.writableNeedDrain) return;
    await once(this.stream, 'drain').catch(() => this.check());
  }

  /** Resolves when all of it is taken. Throws if it could not be. */
  async flushed(): Promise<void> {
    if (this.failure === null) await new Promise((resolve) => this.stream.write('', resolve));
    this.check();
  }

  private check(): void {
    if (this.failure !== null)
      throw new Error(`Standard output cannot be written to: ${this.failure.message}.`, { cause: this.failure });
  }
}
