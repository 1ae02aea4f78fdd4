/** The ids of an AgentRequest as it lies on the log: its own, else derived from its place there. */
export function requestIds(
  place: { readonly topic: string; readonly partition: number; readonly offset: number; readonly key: string },
  request: { readonly requestId: string | null; readonly sessionId: string | null },
): { readonly requestId: string; readonly sessionId: string } {
  const requestId = request.requestId || `${place.topic}-${place.partition}-${place.offset}`;
  return { requestId, sessionId: request.sessionId || place.key || requestId };
}
