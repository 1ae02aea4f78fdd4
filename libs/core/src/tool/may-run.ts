import type { Principal } from '../identity/principal.js';
import type { AuthorizationAction, AuthorizationPort } from '../ports/authorization.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { authorize } from './authorize.js';

/**
 * Whether the authorizer permits the caller the tool, and its connection: as the executor asks before it runs a call.
 * `purpose` stands for the run that there is none of.
 */
export async function mayRun(
  { spec, id, connection }: Pick<ConfiguredTool, 'spec' | 'id' | 'connection'>,
  { actorId, tenantId, subjectId }: Principal,
  authorizer: AuthorizationPort,
  purpose: 'list' | 'read',
): Promise<boolean> {
  if (spec === null) return false;
  const context = {
    ...{ runId: purpose, sessionId: purpose, toolCallId: purpose, actorId, tenantId },
    ...(subjectId === null ? {} : { subjectId }),
    ...(connection === undefined ? {} : { connectionId: connection }),
  };
  const asked = { id, effect: spec.effect };
  const ask = (action: AuthorizationAction) => authorize([authorizer], action, asked, context, () => undefined);
  if (!(await ask('tool.execute')).ok) return false;
  return connection === undefined || (await ask('connection.use')).ok;
}
