import type { BoundTool } from '@sluice/core';
import { ToolUnavailableError } from '@sluice/core';
import type { Environment } from '@sluice/service';
import { openFolderWorkspaces } from '@sluice/tools';
import type { Workspaces } from '@sluice/tools';

type Place = Pick<Environment, 'workspaceFolder'>;

/** Throws a sentence if a tool needs a workspace and there is no folder for it: on Kafka a folder of its own would lose the files of a session that moves. */
export function requireWorkspaces(tools: readonly BoundTool[], { workspaceFolder }: Place): void {
  const needing = tools.filter((tool) => tool.capabilities.includes('workspace')).map(({ id }) => id);
  if (workspaceFolder !== null || needing.length === 0) return;
  throw new Error(
    `SLUICE_WORKSPACES is not set, and the policy allows ${needing.join(', ')}. On Kafka set it to a folder that all executors share, or take these tools out of policy.allowed_tools.`,
  );
}

/** The workspaces of all sessions. Throws ToolUnavailableError if there is no folder for them. */
export function workspacesIn({ workspaceFolder }: Place, onFault: (error: Error) => void): Workspaces {
  if (workspaceFolder === null) throw new ToolUnavailableError('There is no folder for workspaces here.');
  return openFolderWorkspaces(workspaceFolder, onFault);
}
