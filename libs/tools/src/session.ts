import type { ToolInvocationContext } from '@sluice/core';

/** Whose things a call may touch: one user of one tenant in one session. The caller chooses the session’s name, so it alone opens nothing. */
export function sessionKey({ tenantId, subjectId, actorId, sessionId }: ToolInvocationContext): string {
  return JSON.stringify([tenantId, subjectId ?? actorId, sessionId]);
}
