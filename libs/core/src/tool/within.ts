import { CallLimit } from './call-limit.js';
import type { ToolInvocation, ToolPipeline } from './pipeline.js';

/** How a tool’s work ended. */
export type Ended =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

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
