import { Fault } from '@sluice/core';
import type { BusLog, ConsumerObserver } from '../port.js';
import { runAfterCommit } from '../processing/after-commit.js';
import type { Finished } from '../processing/handling.js';
import { backOff, pause } from '../processing/retry.js';
import type { Append } from './append.js';
import type { Forget } from './forget.js';
import type { Lease } from './lease.js';
import type { Progress } from './progress.js';
import type { Commits } from './commits.js';

/**
 * Payload bytes of one transaction, unless a single record's outputs have more: the event loop stands still
 * meanwhile.
 */
const batchBytes = 512 * 1024;
const storageRetry = { initialMs: 100, maxMs: 10_000 };
/**
 * What holds nothing up waits so long for another’s transaction, milliseconds: what a group writes that only watches,
 * and of records that led to nothing, that they are done.
 */
const patienceMs = 20;

interface FlushOptions {
  readonly group: string;
  /** Whether it only watches what others work on. */
  readonly watches: boolean;
  readonly commits: Commits;
  readonly append: Append;
  readonly forget: Forget;
  readonly progress: Progress;
  readonly lease: Lease;
  readonly log: BusLog;
  /** So many records are on the log, and perhaps new ones for others to read. */
  readonly committed: (records: readonly Finished[]) => void;
  /** Nothing can be committed any more: the lease is lost, or an error was unforeseen. */
  readonly failed: (error: Error) => void;
  readonly observer: ConsumerObserver | undefined;
}

/**
 * Puts finished records on the log, outputs and acknowledgements of many in one transaction, which others of the
 * process share. It runs as soon as something is finished and it is not running already, in the order in which things
 * were finished.
 */
export class Flush {
  private queue: Finished[] = [];
  private running: Promise<void> | undefined;
  private _trouble: string | undefined;
  private readonly dropped = new AbortController();
  /** Whether what is to be written waits for another’s transaction. */
  private isWaiting = false;

  constructor(private readonly options: FlushOptions) {}

  /** Why nothing can be written now; undefined if it can. It is tried again by itself. */
  get trouble(): string | undefined {
    return this._trouble;
  }

  add(finished: Finished): void {
    if (this.dropped.signal.aborted) return;
    this.queue.push(finished);
    if (this.isWaiting && !this.isPatient([finished])) this.options.commits.begin();
    this.running ??= this.run();
  }

  /** Resolves when all is written, or the storage fails and so cannot be waited for. */
  async settle(): Promise<void> {
    while (this.running !== undefined && this._trouble === undefined) {
      await Promise.race([this.running, pause(10, this.dropped.signal)]);
    }
  }

  /** Forgets what is not written: it is repeated by the next consumer. */
  drop(): void {
    this.dropped.abort();
    this.queue = [];
  }

  private async run(): Promise<void> {
    for (let attempt = 1; this.queue.length > 0;) {
      const began = performance.now();
      try {
        await this.write(began);
        attempt = 1;
      } catch (error) {
        this.options.observer?.transaction(false, performance.now() - began);
        if (!(error instanceof Fault)) {
          this.options.failed(error instanceof Error ? error : new Error(String(error)));
          break;
        }
        this.report(error);
        if (!(await pause(backOff(attempt++, storageRetry), this.dropped.signal))) break;
      }
    }
    this.running = undefined;
  }

  private async write(began: number): Promise<void> {
    const { commits, append, forget, progress, lease, committed } = this.options;
    this.isWaiting = this.isPatient(this.queue);
    let batch: readonly Finished[] = [];
    await commits.add(
      () => {
        this.isWaiting = false;
        // What finishes before the transaction begins goes with it.
        batch = this.batch();
        if (batch.length === 0) return;
        for (const { topic, offset, carried } of batch) {
          progress.of(topic).finish(offset, offset + 1);
          progress.carry(topic, carried);
        }
        lease.check();
        append(batch.flatMap((finished) => finished.outputs));
        for (const { topic, offset, credential } of batch)
          if (credential !== undefined) forget(topic, offset, credential.sender);
        progress.save();
      },
      { durability: 'processLoss', patienceMs: this.isWaiting ? patienceMs : 0 },
    );
    if (batch.length === 0) return;
    progress.saved();
    this.options.observer?.transaction(true, performance.now() - began);
    this._trouble = undefined;
    this.queue.splice(0, batch.length);
    committed(batch);
    runAfterCommit(batch, this.options.group, this.options.log);
  }

  /** Whether no reader waits for what these have finished. */
  private isPatient(finished: readonly Finished[]): boolean {
    if (this.options.watches) return true;
    return finished.every(({ outputs, credential }) => outputs.length === 0 && credential === undefined);
  }

  private report(fault: Fault): void {
    if (this._trouble === undefined) {
      this.options.log('error', `${fault.message} Finished work is kept and tried again.`, {
        group: this.options.group,
      });
    }
    this._trouble = fault.message;
  }

  /** The oldest ones, up to the batch's size; at least one. */
  private batch(): readonly Finished[] {
    let bytes = 0;
    let count = 0;
    for (const { outputs } of this.queue) {
      const more = outputs.reduce((sum, { value }) => sum + value.byteLength, 0);
      if (count > 0 && bytes + more > batchBytes) break;
      bytes += more;
      count++;
    }
    return this.queue.slice(0, count);
  }
}
