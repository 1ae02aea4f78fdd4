import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mcpToolType } from '@sluice/core';
import type { Problem, ToolType } from '@sluice/core';
import { toolTypes } from '../contract.js';
import type { ToolContract } from '../contract.js';
import { loadToolFile } from './load-file.js';
import type { LoadedTool } from './load-file.js';

/**
 * The tool types of the folders beside those that are built in, for the compiler. Each file of JavaScript or TypeScript in a folder is
 * one tool; folders within are left alone. A file that is no tool is a problem that names it; never throws for what is in the folders.
 */
export async function loadToolTypes(
  folders: readonly string[],
  builtIn: readonly ToolContract[],
): Promise<{ readonly types: readonly ToolType[]; readonly problems: readonly Problem[] }> {
  const types: ToolType[] = [...toolTypes(builtIn)];
  const problems: Problem[] = [];
  for (const [place, folder] of folders.entries()) {
    const path = `tool_folders[${String(place)}]`;
    const names = await toolFilesIn(folder).catch((error: Error) => {
      problems.push({ path, found: reasonOf(error), write: 'a folder that is there and can be read' });
      return [];
    });
    for (const name of names) {
      const file = join(folder, name);
      try {
        types.push(typeOf(await loadToolFile(file), types));
      } catch (error) {
        problems.push({ path: file, found: reasonOf(error), write: 'a tool as docs/writing-a-tool.md shows it' });
      }
    }
  }
  return { types, problems };
}

async function toolFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && /^[^.].*\.m?[jt]s$/.test(entry.name) && !/\.d\.m?ts$/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

function typeOf({ contract, file }: LoadedTool, known: readonly ToolType[]): ToolType {
  const { type } = contract;
  const other = known.find((each) => each.type === type);
  if (other !== undefined || type === mcpToolType) {
    throw new Error(
      `the type "${type}", which ${other?.file === undefined ? 'is built in' : `${other.file.path} has`} already`,
    );
  }
  return { ...(toolTypes([contract])[0] as ToolType), file };
}

function reasonOf(error: unknown): string {
  const message = (error as { readonly message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}
