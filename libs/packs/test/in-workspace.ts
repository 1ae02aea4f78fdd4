import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@sluice/core';
import { builtInTools, openFolderWorkspaces, sessionKey } from '@sluice/packs';
import type { Workspaces } from '@sluice/tools';
import { context, patience } from '../../sources/test/configured.js';

export type Run = (type: string, args: JsonObject, session?: string) => Promise<Record<string, unknown>>;

export interface InWorkspace {
  readonly workspaces: Workspaces;
  /** What the clock says, milliseconds since the epoch. */
  readonly clock: { now: () => number };
  readonly run: Run;
  /** The folder of all workspaces. */
  readonly folder: string;
  /** Why the folder could not be used, as the operator hears it. */
  readonly faults: readonly string[];
}

/** Runs tools of the pack on a folder of the test’s own. */
export async function inWorkspace(work: (given: InWorkspace) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-workspaces-'));
  const faults: string[] = [];
  const clock = { now: () => Date.now() };
  const workspaces = openFolderWorkspaces(folder, clock, ({ message }) => faults.push(message));
  const run: Run = async (type, args, sessionId = 'session') => {
    const contract = builtInTools.find((each) => each.type === type);
    if (contract === undefined) throw new Error(`no ${type}`);
    const called = { ...context, sessionId };
    const workspace = workspaces.of(sessionKey(called));
    const given = { workspace, cancellation: { signal: patience() } };
    const output = contract.parseOutput(await contract.execute(contract.parseInput(args), called, given));
    return output as Record<string, unknown>;
  };
  try {
    await work({ run, folder, faults, workspaces, clock });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
