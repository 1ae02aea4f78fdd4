/** Whether a failed fetch never got as far as the other side. */
export function neverSent(error: unknown): boolean {
  const code = causeOf(error)?.code;
  const before = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
  return typeof code === 'string' && before.includes(code);
}

/** What is behind a failed fetch. Read by its members: an error from another context is no instance of this one's Error. */
export function causeOf(error: unknown): { readonly code?: unknown; readonly message?: unknown } | undefined {
  const cause = (error as { readonly cause?: unknown } | null | undefined)?.cause;
  return typeof cause === 'object' && cause !== null ? cause : undefined;
}
