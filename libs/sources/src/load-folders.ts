import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isServerTool } from '@sluice/core';
import type { Problem, ToolType } from '@sluice/core';
import { toolTypes } from '@sluice/tools';
import type { ToolContract } from '@sluice/tools';
import { ToolProcesses } from '@sluice/isolation';
import type { LoadedTool } from '@sluice/isolation';

/**
 * The tool types of the folders beside those that are built in, for the compiler. Each file of JavaScript or
 * TypeScript in a folder is one tool; folders within are left alone. Each is loaded in a process of its own, which
 * ends. A file that is no tool is a problem that names it; never throws for what is in the folders.
 */
export async function loadToolTypes(
  folders: readonly string[],
  builtIn: readonly ToolContract[],
): Promise<{ readonly types: readonly ToolType[]; readonly problems: readonly Problem[] }> {
  const types: ToolType[] = [...toolTypes(builtIn)];
  const problems: Problem[] = [];
  const processes = new ToolProcesses();
  try {
    await loadInto(types, problems, folders, processes);
  } finally {
    await processes.close();
  }
  return { types, problems };
}

async function loadInto(
  types: ToolType[],
  problems: Problem[],
  folders: readonly string[],
  processes: ToolProcesses,
): Promise<void> {
  for (const [place, folder] of folders.entries()) {
    const path = `tool_folders[${String(place)}]`;
    const names = await toolFilesIn(folder).catch((error: Error) => {
      problems.push({ path, found: reasonOf(error), write: 'a folder that is there and can be read' });
      return [];
    });
    for (let at = 0; at < names.length; at += filesAtOnce) {
      const files = names.slice(at, at + filesAtOnce).map((name) => join(folder, name));
      const loaded = await Promise.allSettled(files.map((file) => processes.load(file)));
      for (const [place, one] of loaded.entries()) {
        const file = files[place] as string;
        try {
          if (one.status === 'rejected') throw one.reason;
          types.push(typeOf(one.value, types));
        } catch (error) {
          const line = await syntaxLine(file);
          const found = line === null ? reasonOf(error) : `${reasonOf(error)} (line ${line})`;
          problems.push({ path: file, found, write: 'a tool as docs/writing-a-tool.md shows it' });
        }
      }
    }
  }
}

/** Files that are loaded at the same time, each in a process. */
const filesAtOnce = 4;

async function toolFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && /^[^.].*\.m?[jt]s$/.test(entry.name) && !/\.d\.m?ts$/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

function typeOf({ contract, file, networkUses, closedUses }: LoadedTool, known: readonly ToolType[]): ToolType {
  const { type } = contract;
  const other = known.find((each) => each.type === type);
  if (other !== undefined || isServerTool(type)) {
    throw new Error(
      `the type "${type}", which ${other?.file === undefined ? 'is built in' : `${other.file.path} has`} already`,
    );
  }
  const uses = {
    ...(networkUses.length === 0 ? {} : { networkUses }),
    ...(closedUses.length === 0 ? {} : { closedUses }),
  };
  return { ...(toolTypes([contract])[0] as ToolType), file, ...uses };
}

/** The line of a file's first mistake of syntax, as Node names it without running the file; null where it has none. */
async function syntaxLine(file: string): Promise<string | null> {
  const said = await promisify(execFile)(process.execPath, ['--experimental-strip-types', '--check', file], {
    timeout: checkMs,
  }).then(
    () => '',
    (error: { readonly stderr?: string }) => error.stderr ?? '',
  );
  if (!/^SyntaxError/m.test(said)) return null;
  return /^.*:(\d+)$/.exec(said.split('\n')[0] ?? '')?.[1] ?? null;
}

/** How long Node may take to read a file, milliseconds. */
const checkMs = 10_000;

function reasonOf(error: unknown): string {
  const message = (error as { readonly message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}
