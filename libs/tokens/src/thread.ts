import { Worker } from 'node:worker_threads';
import { countsHere, type CountReply, type CountTask, type Encoding } from './count-thread.js';

/** What a thread needs with both encodings and the longest list is about half of this; without bounds it keeps more. */
const youngMegabytes = 4;
const oldMegabytes = 160;

interface Waiting {
  readonly characters: number;
  readonly resolve: (counts: Uint32Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread that counts tokens, so that nothing else of the process waits for it. It is started when it is first
 * needed, and again where it has ended; it keeps the process alive only while it counts.
 */
export class CountThread {
  private worker: Worker | null = null;
  private waiting: Waiting[] = [];
  private _characters = 0;

  /** Characters that are still to be counted. */
  get characters(): number {
    return this._characters;
  }

  /** The tokens of each text, in order. */
  count(encoding: Encoding, texts: readonly string[]): Promise<Uint32Array> {
    const text = texts.join('');
    const lengths = Uint32Array.from(texts, ({ length }) => length);
    const task: CountTask = { encoding, text, lengths };
    const characters = text.length;
    return new Promise((resolve, reject) => {
      const worker = (this.worker ??= this.start());
      this.waiting.push({ characters, resolve, reject });
      this._characters += characters;
      worker.ref();
      worker.postMessage(task, [lengths.buffer]);
    });
  }

  /** Ends the thread, with all that it holds. It is started again where something is to be counted. */
  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const program = `./count-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
    const worker = new Worker(new URL(program, import.meta.url), {
      ...{ name: countsHere, workerData: countsHere },
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes, maxOldGenerationSizeMb: oldMegabytes },
    });
    worker.on('message', (reply: CountReply) => {
      const first = this.waiting.shift();
      this._characters -= first?.characters ?? 0;
      if (this.waiting.length === 0) worker.unref();
      if (typeof reply === 'string') first?.reject(new Error(reply));
      else first?.resolve(reply);
    });
    let reason = new Error('The thread that counts tokens has ended.');
    worker.on('error', (error) => {
      reason = new Error('The thread that counts tokens failed.', { cause: error });
    });
    worker.on('exit', () => {
      const { waiting } = this;
      [this.worker, this.waiting, this._characters] = [null, [], 0];
      for (const { reject } of waiting) reject(reason);
    });
    return worker;
  }
}
