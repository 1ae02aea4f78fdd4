import { Fault } from '@sluice/core';

/** What keeps a store from working now. `why` is the end of a sentence, and says what to change. */
export function unreachable(what: string, why: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return new Fault('content_unreachable', `${what} ${why}`, true, { cause });
}

export function codeOf(error: unknown): string {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : cause === undefined ? '' : codeOf(cause);
}

export function textOf(error: unknown): string {
  // What `fetch` throws says why in its cause.
  const { cause } = Object(error) as { readonly cause?: unknown };
  if (cause instanceof Error && cause.message !== '') return textOf(cause);
  const text = error instanceof Error ? error.message : String(error);
  return (text || codeOf(error)).replace(/\.$/, '');
}
