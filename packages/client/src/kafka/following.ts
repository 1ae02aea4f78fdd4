import type { Consumer } from 'kafkajs';

/** So many records may wait to be read; behind that the consumer waits. */
const mostQueued = 1_000;

/** The records of a consumer as an async iterable, until `return`, the signal, or the consumer’s failure. */
export class Following<T> implements AsyncIterableIterator<T> {
  private readonly items: T[] = [];
  private failure: { readonly error: unknown } | null = null;
  private isClosed = false;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly consumer: Pick<Consumer, 'disconnect'>,
    private readonly signal?: AbortSignal,
  ) {
    signal?.addEventListener('abort', this.abort, { once: true });
  }

  async add(item: T): Promise<void> {
    this.items.push(item);
    this.changed();
    while (this.items.length >= mostQueued && !this.isOver) await this.change();
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.changed();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      if (this.isClosed) return { done: true, value: undefined };
      if (this.failure !== null) {
        await this.return();
        throw this.failure.error;
      }
      const item = this.items.shift();
      if (item !== undefined) {
        this.changed();
        return { done: false, value: item };
      }
      await this.change();
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    const wasClosed = this.isClosed;
    this.isClosed = true;
    this.signal?.removeEventListener('abort', this.abort);
    this.changed();
    if (!wasClosed) await this.consumer.disconnect();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private readonly abort = (): void => this.fail(this.signal?.reason);

  private get isOver(): boolean {
    return this.isClosed || this.failure !== null;
  }

  private change(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private changed(): void {
    for (const wake of this.waiting.splice(0)) wake();
  }
}
