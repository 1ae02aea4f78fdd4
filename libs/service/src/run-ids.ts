import type { Incoming } from '@sluice/bus';

/** The ids of an AgentRequest as it lies on the log: its own, else derived from its place there. */
export function requestIds(
  message: Pick<Incoming, 'topic' | 'partition' | 'offset' | 'key'>,
  request: { requestId: string | null; sessionId: string | null },
) {
  const requestId = request.requestId || `${message.topic}-${message.partition}-${message.offset}`;
  return { requestId, sessionId: request.sessionId || message.key || requestId };
}
