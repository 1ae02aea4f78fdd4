import { join } from 'node:path';
import type { JsonObject } from '@sluice/core';
import { builtInTools, openDocuments, ParsedDocuments, sessionKey } from '@sluice/packs';
import type { Workspace } from '@sluice/tools';
import { context, patience } from '../../../sources/test/configured.js';
import { inWorkspace } from '../in-workspace.js';

export const samples = join(import.meta.dirname, '../../../../examples/requirements/documents');

export interface InDocuments {
  readonly workspace: Workspace;
  run(type: string, args: JsonObject, changes?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Runs tools of the document pack on the sample documents, and on a workspace of the test’s own. */
export async function inDocuments(
  work: (given: InDocuments) => Promise<void>,
  folder: string | null = samples,
): Promise<void> {
  await inWorkspace(async ({ workspaces }) => {
    const workspace = workspaces.of(sessionKey(context));
    const documents = openDocuments(workspace, folder, new ParsedDocuments());
    await work({
      workspace,
      run: async (type, args, changes = {}) => {
        const contract = builtInTools.find((each) => each.type === type);
        if (contract === undefined) throw new Error(`no ${type}`);
        const given = { documents, cancellation: { signal: patience() }, text: {}, ...changes };
        const output = contract.parseOutput(await contract.execute(contract.parseInput(args), context, given));
        return output as Record<string, unknown>;
      },
    });
  });
}
