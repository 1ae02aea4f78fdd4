import type { Writable } from 'node:stream';

/**
 * Standard output as its reader takes it. Behind a pipe Node keeps what the reader has not taken yet in memory, and loses it
 * when the process exits: so a loop over a log waits for `taken`, and the process for `flushed` before it ends.
 */
export class Output {
  /** Resolves when nothing can be written any more, as in `sluice tail | head` once that has its lines. */
  readonly gone: Promise<string>;
  #failure: NodeJS.ErrnoException | null = null;

  constructor(private readonly stream: Writable) {
    this.gone = new Promise((resolve) => {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        this.#failure ??= error;
        resolve('standard output is gone');
      });
    });
  }

  write(text: string): void {
    if (this.#failure === null) this.stream.write(text);
  }

  /** Resolves as soon as the reader has room for more, or is gone. */
  async taken(): Promise<void> {
    if (this.#failure !== null || !this.stream.writableNeedDrain) return;
    await Promise.race([new Promise((resolve) => this.stream.once('drain', resolve)), this.gone]);
  }

  /** Resolves when all of it is taken, or the reader has had enough. Throws if it could not be written, as on a full disk. */
  async flushed(): Promise<void> {
    if (this.#failure === null)
      await Promise.race([new Promise((resolve) => this.stream.write('', resolve)), this.gone]);
    if (this.#failure !== null && this.#failure.code !== 'EPIPE')
      throw new Error(`Standard output cannot be written to: ${this.#failure.message}.`);
  }
}
