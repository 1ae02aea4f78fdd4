import type { Configuration } from '@sluice/core';
import { ToolUnavailableError } from '@sluice/core';
import type { Environment } from '@sluice/service';
import { openFolderWorkspaces } from '@sluice/tools';
import type { ToolContract, Workspaces } from '@sluice/tools';

type Place = Pick<Environment, 'workspaceFolder'>;

/** Throws a sentence if an allowed tool needs a workspace and there is no folder for it: one of each executor’s own would lose the files of a session that moves. */
export function requireWorkspaces(
  { tools, policy }: Configuration,
  contracts: readonly ToolContract[],
  { workspaceFolder }: Place,
): void {
  if (workspaceFolder !== null) return;
  const types = new Set(contracts.filter((each) => each.capabilities.includes('workspace')).map(({ type }) => type));
  const needing = tools.filter(({ id, type }) => types.has(type) && policy.allowedTools.includes(id));
  if (needing.length === 0) return;
  throw new Error(
    `SLUICE_WORKSPACES is not set, and the policy allows ${needing.map(({ id }) => id).join(', ')}. On Kafka set it to a folder that all executors share, or take these tools out of policy.allowed_tools.`,
  );
}

/** The workspaces of all sessions. Throws ToolUnavailableError if there is no folder for them. */
export function workspacesIn({ workspaceFolder }: Place, onFault: (error: Error) => void): Workspaces {
  if (workspaceFolder === null) throw new ToolUnavailableError('There is no folder for workspaces here.');
  return openFolderWorkspaces(workspaceFolder, onFault);
}
