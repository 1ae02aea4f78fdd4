import type { Durability } from '@sluice/core';
import type { Encoded } from '../processing/outputs.js';
import type { Append } from './append.js';
import type { Commits } from './commits.js';

const batchBytes = 512 * 1024;

interface Waiting {
  readonly records: readonly Encoded[];
  readonly bytes: number;
  readonly resolve: (offsets: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends without a consumer: what is asked in one turn of the event loop goes on the log together. */
export class GroupAppend {
  private readonly waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  private bytes = 0;
  private _trouble: { readonly reason: string; readonly at: number } | undefined;

  constructor(
    private readonly commits: Commits,
    private readonly append: Append,
    private readonly durability: Durability,
    private readonly appended: () => void,
  ) {}

  /** Payload bytes that are asked for and not yet on the log. */
  get pendingBytes(): number {
    return this.bytes;
  }

  /** Why the last append failed, and when, on the monotonic clock, milliseconds; undefined once one worked again. */
  get trouble(): { readonly reason: string; readonly at: number } | undefined {
    return this._trouble;
  }

  /** Resolves with the offsets when all records are on the log. Rejects with Fault('storage') if none is. */
  add(records: readonly Encoded[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, { value }) => sum + value.byteLength, 0);
      this.waiting.push({ records, bytes, resolve, reject });
      this.bytes += bytes;
      this.running ??= this.run();
    });
  }

  /** Resolves when all that was asked for so far has been tried. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      let batch: readonly Waiting[] = [];
      try {
        const { durability } = this;
        const offsets = await this.commits.add(
          () => {
            batch = this.oldest();
            return batch.map(({ records }) => this.append(records));
          },
          { durability },
        );
        this._trouble = undefined;
        batch.forEach(({ resolve }, index) => resolve(offsets[index] ?? []));
        this.appended();
      } catch (error) {
        this._trouble = { reason: error instanceof Error ? error.message : String(error), at: performance.now() };
        if (batch.length === 0) batch = this.oldest();
        for (const { reject } of batch) reject(error);
      } finally {
        this.waiting.splice(0, batch.length);
        this.bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
      }
    }
    this.running = undefined;
  }

  /** The oldest ones, up to the batch's size; at least one. */
  private oldest(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.waiting) {
      if (count > 0 && bytes + waiting.bytes > batchBytes) break;
      bytes += waiting.bytes;
      count++;
    }
    return this.waiting.slice(0, count);
  }
}
