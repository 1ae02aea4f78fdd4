/** Whether a failed request never got as far as the other side. */
export function neverSent(error: unknown): boolean {
  const cause = causeOf(error);
  // Reading and writing fail so as well, when the other side is gone from the network; by then the request had been
  // sent.
  if (cause?.syscall === 'read' || cause?.syscall === 'write') return false;
  const before = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
  return typeof cause?.code === 'string' && before.includes(cause.code);
}

/**
 * What is behind a failed fetch. Read by its members: an error from another context is no instance of this one's
 * Error.
 */
export function causeOf(
  error: unknown,
): { readonly code?: unknown; readonly message?: unknown; readonly syscall?: unknown } | undefined {
  const cause = (error as { readonly cause?: unknown } | null | undefined)?.cause;
  return typeof cause === 'object' && cause !== null ? cause : undefined;
}
