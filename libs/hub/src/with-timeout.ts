/**
 * What the work gives. Rejects with `late` if it takes longer, milliseconds, and with the signal's reason; the work
 * itself goes on.
 */
export async function withTimeout<T>(
  work: Promise<T>,
  waitMs: number,
  signal: AbortSignal,
  late: () => Error,
): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), waitMs);
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
