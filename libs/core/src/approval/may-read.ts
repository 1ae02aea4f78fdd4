import { notPermitted } from '../identity/permission.js';
import type { Principal } from '../identity/principal.js';
import type { AuthorizationPort } from '../ports/authorization.js';
import { allowedConnections } from '../rules/connections.js';
import { wildcard } from '../rules/defaults.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { mayRun } from '../tool/may-run.js';

/**
 * Whether a reader may see arguments and results of the tool’s calls in another’s run: who may call the
 * tool itself may. The groups and connections of a request are within the caller’s, so all of these are asked for.
 */
export async function mayReadCalls(
  tool: ConfiguredTool | undefined,
  reader: Principal,
  { groupTree, connections }: Pick<Configuration, 'groupTree' | 'connections'>,
  authorizer: AuthorizationPort,
): Promise<boolean> {
  if (tool === undefined) return false;
  const { groups, connection } = tool;
  const isReached =
    reader.groups.includes(wildcard) || notPermitted(groups, reader.groups, groupTree).length < groups.length;
  if (!isReached) return false;
  if (connection !== undefined && !allowedConnections(connections, reader, [wildcard]).includes(connection))
    return false;
  return mayRun(tool, reader, authorizer, 'read');
}
