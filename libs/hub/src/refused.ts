import { SdkHttpError, SseError } from '@modelcontextprotocol/client';

/** How far down a cause is looked for. */
const deepestCause = 5;

/** The credential was refused before, so nothing was sent with it again. */
export class CredentialRefusedError extends Error {
  override readonly name = 'CredentialRefusedError';
}

/**
 * Whether a server answered 401: it did not look at what it was sent, so that may be sent again with another
 * credential.
 */
export function isRefusal(error: unknown, depth = 0): boolean {
  if (error instanceof CredentialRefusedError) return true;
  if (error instanceof SdkHttpError) return error.status === 401;
  if (error instanceof SseError) return error.code === 401;
  return depth < deepestCause && error instanceof Error && isRefusal(error.cause, depth + 1);
}
