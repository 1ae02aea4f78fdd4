import { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerReply, WorkerTask } from './query-worker.js';

/** What the thread itself says about a task: a file or query that is not as it should be. */
export class StoreTaskError extends Error {
  override readonly name = 'StoreTaskError';
  constructor(
    message: string,
    readonly code: string | null,
  ) {
    super(message);
  }
}

/**
 * A thread with a triple store in it. One task at a time; a task that must end is ended by ending the thread, which
 * is the only thing that stops a query. The thread keeps the process alive only while it has a task.
 */
export class StoreThread {
  private readonly worker = new Worker(new URL(sibling('query-worker'), import.meta.url), { name: 'sluice-knowledge' });
  private waiting: { resolve: (answer: WorkerAnswer) => void; reject: (error: Error) => void } | undefined;
  /** Set once the thread is gone: why. */
  ended: Error | undefined;

  constructor() {
    this.worker.on('message', (reply: WorkerReply) => {
      const { waiting } = this;
      this.waiting = undefined;
      this.worker.unref();
      if (reply.ok) waiting?.resolve(reply.answer);
      else waiting?.reject(new StoreTaskError(reply.message, reply.code));
    });
    this.worker.on('error', (error) => this.end(new Error('The knowledge store’s thread failed.', { cause: error })));
    this.worker.on('exit', () => this.end(new Error('The knowledge store’s thread has ended.')));
    this.worker.unref();
  }

  /** Not to be called before the task before it has ended. */
  perform(task: WorkerTask): Promise<WorkerAnswer> {
    return new Promise((resolve, reject) => {
      if (this.ended !== undefined) {
        reject(this.ended);
        return;
      }
      this.waiting = { resolve, reject };
      this.worker.ref();
      this.worker.postMessage(task);
    });
  }

  /** Ends the thread; a task under way is rejected with the reason. */
  async stop(reason: Error): Promise<void> {
    this.end(reason);
    await this.worker.terminate();
  }

  private end(reason: Error): void {
    this.ended ??= reason;
    this.waiting?.reject(this.ended);
    this.waiting = undefined;
  }
}

/** The worker beside this file: `.ts` where the sources run as they are, `.js` once built. */
function sibling(name: string): string {
  return `./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
}
