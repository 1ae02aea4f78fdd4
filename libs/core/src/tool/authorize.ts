import type {
  AuthorizationAction,
  AuthorizationAnswer,
  AuthorizationContext,
  AuthorizationDenial,
  AuthorizationPort,
} from '../ports/authorization.js';
import type { JsonValue } from '../json.js';
import type { Verdict } from './pipeline.js';
import type { BoundTool, ToolInvocationContext } from './types.js';

/** A call that is asked about; what is made of its arguments, is made where an authorizer looks at them. */
interface AskedCall extends Required<Pick<AuthorizationContext, 'claims' | 'facts'>> {
  arguments(): JsonValue;
  /** Those that were asked about already, where it is asked again. */
  before?(): JsonValue;
}

/**
 * Asks every authorizer whether the call may go on: whether the tool may be run, or whether it may use the connection
 * of its context. All must allow it. A denial is `authz_denied`; an authorizer that fails is `unavailable`, and
 * `onFault` hears why, since the caller must not. Without a call it is asked as for a list of tools. Of arguments that
 * were asked about before, those authorizers alone are asked again that look at arguments, where these differ.
 */
export async function authorize(
  authorizers: readonly AuthorizationPort[],
  action: AuthorizationAction,
  tool: Pick<BoundTool, 'id' | 'effect'>,
  context: ToolInvocationContext,
  onFault: (error: unknown) => void,
  call?: AskedCall,
): Promise<Verdict> {
  const { actorId, subjectId, tenantId, runId, connectionId } = context;
  const resource =
    action === 'tool.execute'
      ? ({ type: 'tool', id: tool.id } as const)
      : ({ type: 'connection', id: connectionId ?? '' } as const);
  for (const authorizer of authorizers) {
    let answer: AuthorizationAnswer;
    try {
      const looks = call !== undefined && (authorizer.looksAtArguments?.(tool.id) ?? false);
      if (call?.before !== undefined && !(looks && differ(call.before(), call.arguments()))) continue;
      const { claims, facts } = call ?? {};
      answer = await authorizer.check(actorId, subjectId, action, resource, {
        ...{ tenantId, runId, effect: tool.effect },
        ...(claims === undefined ? {} : { claims }),
        ...(facts === undefined ? {} : { facts }),
        ...(looks ? { arguments: call.arguments() } : {}),
      });
    } catch (error) {
      onFault(error);
      const message = `Whether the tool ${tool.id} may be used cannot be found out now. Try again later or use another tool.`;
      return { ok: false, code: 'unavailable', reason: 'authorizer_unreachable', message };
    }
    if (!answer.allowed) return denied(answer, action, tool.id);
  }
  return { ok: true };
}

function differ(before: JsonValue, now: JsonValue): boolean {
  return before !== now && JSON.stringify(before) !== JSON.stringify(now);
}

/** What a step of a call says that was denied the use of its connection, and not its tool. */
const ofConnection = 'use this connection with the tool';

/** What it says where it was denied for its arguments, and where for one of them. */
const withThese = ' with these arguments';
const withThisValue = { before: ' with this value of its argument “', behind: '”' } as const;

/** What a recorded step says was missing for the action; null where it was not denied that. */
export function recordedDenial(
  {
    outcome,
    reason,
    observation,
  }: { readonly outcome: string; readonly reason: string | null; readonly observation: string },
  action: AuthorizationAction,
): AuthorizationDenial | null {
  if (outcome !== 'authz_denied') return null;
  if (observation.includes(ofConnection) !== (action === 'connection.use')) return null;
  const missing = reason === 'not_permitted' ? 'permission' : reason === 'not_delegated' ? 'delegation' : null;
  if (missing === null) return null;
  const denial = { allowed: false, missing } as const;
  if (observation.includes(withThese)) return { ...denial, argument: null };
  const { before, behind } = withThisValue;
  const start = observation.indexOf(before);
  if (start < 0) return denial;
  return { ...denial, argument: observation.slice(start + before.length, observation.lastIndexOf(behind)) };
}

function denied({ missing, argument }: AuthorizationDenial, action: AuthorizationAction, toolId: string): Verdict {
  const what = action === 'tool.execute' ? `use the tool ${toolId}` : `${ofConnection} ${toolId}`;
  const { before, behind } = withThisValue;
  const [how, instead] =
    argument === undefined
      ? ['', 'Use another tool']
      : argument === null
        ? [withThese, 'Change them, use another tool']
        : [`${before}${argument}${behind}`, 'Change it, use another tool'];
  switch (missing) {
    case 'permission': {
      const message = `The caller is not permitted to ${what}${how}. ${instead}, or have the permission granted.`;
      return { ok: false, code: 'authz_denied', reason: 'not_permitted', message };
    }
    case 'delegation': {
      const message = `The caller may not ${what} on behalf of its user${how}. ${instead}, or have the delegation granted.`;
      return { ok: false, code: 'authz_denied', reason: 'not_delegated', message };
    }
  }
}
