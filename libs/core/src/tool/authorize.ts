import type { AuthorizationAction, AuthorizationAnswer, AuthorizationPort } from '../ports/authorization.js';
import type { Verdict } from './pipeline.js';
import type { BoundTool, ToolInvocationContext } from './types.js';

/**
 * Asks every authorizer whether the call may go on: whether the tool may be run, or whether it may use the connection
 * of its context. All must allow it. A denial is `authz_denied`; an authorizer that fails is `unavailable`, and
 * `onFault` hears why, since the caller must not.
 */
export async function authorize(
  authorizers: readonly AuthorizationPort[],
  action: AuthorizationAction,
  tool: Pick<BoundTool, 'id' | 'effect'>,
  context: ToolInvocationContext,
  onFault: (error: unknown) => void,
): Promise<Verdict> {
  const { actorId, subjectId, tenantId, runId, connectionId } = context;
  const resource =
    action === 'tool.execute'
      ? ({ type: 'tool', id: tool.id } as const)
      : ({ type: 'connection', id: connectionId ?? '' } as const);
  for (const authorizer of authorizers) {
    let answer: AuthorizationAnswer;
    try {
      answer = await authorizer.check(actorId, subjectId, action, resource, { tenantId, runId, effect: tool.effect });
    } catch (error) {
      onFault(error);
      const message = `Whether the tool ${tool.id} may be used cannot be found out now. Try again later or use another tool.`;
      return { ok: false, code: 'unavailable', reason: 'authorizer_unreachable', message };
    }
    if (!answer.allowed) return denied(answer.missing, action, tool.id);
  }
  return { ok: true };
}

/** What a step of a call says that was denied the use of its connection, and not its tool. */
const ofConnection = 'use this connection with the tool';

/** What a recorded step says was missing for the action; null where it was not denied that. */
export function recordedDenial(
  {
    outcome,
    reason,
    observation,
  }: { readonly outcome: string; readonly reason: string | null; readonly observation: string },
  action: AuthorizationAction,
): 'permission' | 'delegation' | null {
  if (outcome !== 'authz_denied') return null;
  if (observation.includes(ofConnection) !== (action === 'connection.use')) return null;
  return reason === 'not_permitted' ? 'permission' : reason === 'not_delegated' ? 'delegation' : null;
}

function denied(missing: 'permission' | 'delegation', action: AuthorizationAction, toolId: string): Verdict {
  const what = action === 'tool.execute' ? `use the tool ${toolId}` : `${ofConnection} ${toolId}`;
  switch (missing) {
    case 'permission': {
      const message = `The caller is not permitted to ${what}. Use another tool, or have the permission granted.`;
      return { ok: false, code: 'authz_denied', reason: 'not_permitted', message };
    }
    case 'delegation': {
      const message = `The caller may not ${what} on behalf of its user. Use another tool, or have the delegation granted.`;
      return { ok: false, code: 'authz_denied', reason: 'not_delegated', message };
    }
  }
}
