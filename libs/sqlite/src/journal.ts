import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { Fault } from '@sluice/core';
import type { Named } from './errors.js';

/**
 * Puts commits on the disk without stopping the event loop. A commit with `synchronous = NORMAL` is in the write-ahead
 * log, where it survives the end of its process; flushing that file makes it survive a loss of power too, as
 * `synchronous = FULL` would do within the commit. One flush serves all who ask while the one before is under way.
 */
export class Journal {
  private readonly file: string | null;
  private handle: Promise<FileHandle> | undefined;
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(
    database: DatabaseSync,
    private readonly named: Named,
  ) {
    // In memory there is nothing to flush.
    this.file = database.location();
    database.exec('PRAGMA synchronous = NORMAL');
  }

  /** Resolves when all that was committed before the call is on the disk. Rejects with a Fault, retryable. */
  flush(): Promise<void> {
    const { file } = this;
    if (file === null) return Promise.resolve();
    if (this.running === undefined) return this.begin(file);
    // What is under way may have begun before the last commit.
    const begin = (): Promise<void> => this.begin(file);
    this.next ??= this.running.then(begin, begin);
    return this.next;
  }

  /** Waits for what is under way. The connection is still open then, and gets no further work. */
  async close(): Promise<void> {
    while (this.running !== undefined) await this.running.catch(() => undefined);
    const handle = await this.handle?.catch(() => undefined);
    await handle?.close();
  }

  private begin(file: string): Promise<void> {
    this.next = undefined;
    const running = this.written(file).finally(() => {
      if (this.running === running) this.running = undefined;
    });
    return (this.running = running);
  }

  private async written(file: string): Promise<void> {
    try {
      // It is there for as long as the connection is open.
      this.handle ??= open(`${file}-wal`, 'r+').catch((error: unknown) => {
        this.handle = undefined;
        throw error;
      });
      const handle = await this.handle;
      await handle.datasync();
    } catch (error) {
      const { noun, code } = this.named;
      const why = (error as Error).message;
      throw new Fault(code, `The ${noun} could not be put on the disk: ${why}. See that the disk works.`, true, {
        cause: error,
      });
    }
  }
}
