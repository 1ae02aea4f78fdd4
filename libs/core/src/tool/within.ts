import type { ToolInvocation, ToolPipeline } from './pipeline.js';

/** How a tool’s work ended. */
export type Ended =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

const nothing = (): void => undefined;

/** The time limit of a call. It does not run while a person is asked, and begins again behind the answer. */
export class CallLimit {
  private pauses = 0;
  private stop = nothing;
  private start = (): typeof nothing => nothing;

  /** Runs from now on; returns what ends it. */
  run(start: () => typeof nothing): typeof nothing {
    this.start = start;
    this.stop = start();
    return () => {
      this.start = () => nothing;
      this.stop();
    };
  }

  async paused<T>(work: () => Promise<T>): Promise<T> {
    if (this.pauses++ === 0) this.stop();
    try {
      return await work();
    } finally {
      if (--this.pauses === 0) this.stop = this.start();
    }
  }
}

/**
 * Waits for the tool, its time limit, its cancellation, or the service abandoning the record; the last is thrown,
 * since no end may be written for it.
 */
export async function within(
  work: () => Promise<unknown>,
  invocation: ToolInvocation,
  pipeline: Pick<ToolPipeline, 'after' | 'onCancel'>,
  limit = new CallLimit(),
): Promise<Ended> {
  const given = invocation.signal;
  given.throwIfAborted();
  let noTimer = (): void => undefined;
  let noLook = (): void => undefined;
  let onAbort = (): void => undefined;
  const stopped = new Promise<Ended>((resolve, reject) => {
    noTimer = limit.run(() => pipeline.after(invocation.timeoutMs, () => resolve({ kind: 'timeout' })));
    noLook = pipeline.onCancel(invocation, () => resolve({ kind: 'cancelled' }));
    onAbort = () => reject(given.reason as Error);
    given.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([settle(work), stopped]);
  } finally {
    noTimer();
    noLook();
    given.removeEventListener('abort', onAbort);
  }
}

async function settle(work: () => Promise<unknown>): Promise<Ended> {
  try {
    return { kind: 'value', value: await work() };
  } catch (error) {
    return { kind: 'threw', error };
  }
}
