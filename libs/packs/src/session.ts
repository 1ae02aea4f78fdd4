import type { Clock, ToolInvocationContext } from '@sluice/core';

/** How long what a session keeps stays behind its last use, milliseconds; null for ever. */
export interface SessionLife {
  readonly clock: Clock;
  readonly keptMs: number | null;
}

/**
 * Whose things a call may touch: one user of one tenant in one session. The caller chooses the session’s name, so it
 * alone opens nothing.
 */
export function sessionKey({ tenantId, subjectId, actorId, sessionId }: ToolInvocationContext): string {
  return JSON.stringify([tenantId, subjectId ?? actorId, sessionId]);
}
