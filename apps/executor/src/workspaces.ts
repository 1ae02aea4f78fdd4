import { accessSync, constants, mkdirSync } from 'node:fs';
import type { Configuration } from '@sluice/core';
import { sentenceList, ToolUnavailableError } from '@sluice/core';
import type { Environment, Runtime } from '@sluice/host';
import { openFolderWorkspaces } from '@sluice/packs';
import type { ToolContract, Workspaces } from '@sluice/tools';

/** Capabilities that a session’s folder is behind. */
const needing = ['workspace', 'documents'];
const forgetEveryMs = 3_600_000;

type Place = Pick<Environment, 'workspaceFolder'>;

/**
 * Throws a sentence if an allowed tool needs a workspace and there is no folder for it that can be written: one of
 * each executor’s own would lose the files of a session that moves.
 */
export function requireWorkspaces(
  { tools, policy }: Configuration,
  contracts: readonly ToolContract[],
  { workspaceFolder }: Place,
): void {
  const types = new Set(
    contracts.filter(({ capabilities }) => needing.some((name) => capabilities.includes(name))).map(({ type }) => type),
  );
  const without = tools.filter(({ id, type }) => types.has(type) && policy.allowedTools.includes(id));
  if (without.length === 0) return;
  if (workspaceFolder !== null) return requireWritable(workspaceFolder);
  throw new Error(
    `SLUICE_WORKSPACES is not set, and the policy allows ${sentenceList(without.map(({ id }) => id))}. On Kafka set it to a folder that all executors share, or take these tools out of policy.allowed_tools.`,
  );
}

function requireWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The folder of the workspaces ${folder} cannot be written: ${(error as Error).message}. Set SLUICE_WORKSPACES to one that can.`,
      { cause: error },
    );
  }
}

/** The workspaces of all sessions. Throws ToolUnavailableError if there is no folder for them. */
export function workspacesIn({ environment, clock, log }: Runtime): Workspaces {
  const { workspaceFolder } = environment;
  if (workspaceFolder === null) throw new ToolUnavailableError('There is no folder for workspaces here.');
  return openFolderWorkspaces(workspaceFolder, clock, (error) =>
    log.error({ error: error.message }, 'the folder of the workspaces cannot be used'),
  );
}

/** Removes workspaces that have been out of use for too long, now and every hour; returns what stops it. */
export function forgetWorkspaces(runtime: Runtime): () => Promise<void> {
  const { environment, clock, log } = runtime;
  const { workspaceFolder, sessionsKeptMs } = environment;
  if (workspaceFolder === null || sessionsKeptMs === null) return () => Promise.resolve();
  const workspaces = workspacesIn(runtime);
  let looking = Promise.resolve();
  const look = (): void => {
    looking = looking.then(async () => {
      try {
        await workspaces.forget(clock.now() - sessionsKeptMs);
      } catch (error) {
        log.warn(
          { error: (error as Error).message },
          'workspaces that are out of use could not be removed; trying again in an hour',
        );
      }
    });
  };
  look();
  const timer = setInterval(look, forgetEveryMs);
  return () => {
    clearInterval(timer);
    return looking;
  };
}
