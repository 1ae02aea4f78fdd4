import { cut } from '@sluice/core';

/** Characters of an id, at most. */
export const longestId = 256;

/**
 * Of a longer one so many are repeated: more than anybody means, and few enough that there is room to say what is
 * wrong with it.
 */
const repeatedOfId = 4_096;

/** The ids of an AgentRequest as it lies on the log: its own, else derived from its place there. */
export function requestIds(
  place: { readonly topic: string; readonly partition: number; readonly offset: number; readonly key: string },
  request: { readonly requestId: string | null; readonly sessionId: string | null },
): { readonly requestId: string; readonly sessionId: string } {
  const requestId = repeated(request.requestId || `${place.topic}-${place.partition}-${place.offset}`);
  return { requestId, sessionId: repeated(request.sessionId || place.key || requestId) };
}

function repeated(id: string): string {
  return cut(id.toWellFormed(), repeatedOfId);
}
