import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnFile } from './confined.js';
import { decode } from './text.js';
import type { Entry, Match, Usage } from '@sluice/tools';

/** A file or directory under a folder, with the names that lead there. */
interface Found extends Entry {
  readonly names: readonly string[];
}

const snippet = 120;

/** The entries of a directory, sorted by name; links and devices are not shown. None if it is not there. */
export async function entriesOf(folder: string): Promise<readonly Entry[]> {
  const found = await Promise.all((await read(folder)).filter(isOurs).map((each) => measured(folder, each)));
  return found.flatMap((entry) => entry ?? []).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Everything under a folder, each directory before what is in it, in the order of the names. */
export async function* everythingIn(folder: string, names: readonly string[] = []): AsyncGenerator<Found> {
  for (const entry of await entriesOf(folder)) {
    const here = [...names, entry.name];
    yield { ...entry, names: here };
    if (entry.kind === 'directory') yield* everythingIn(join(folder, entry.name), here);
  }
}

export async function usageOf(folder: string): Promise<Usage> {
  const usage = { files: 0, directories: 0, bytes: 0 };
  for await (const { kind, bytes } of everythingIn(folder)) {
    usage[kind === 'file' ? 'files' : 'directories'] += 1;
    usage.bytes += bytes;
  }
  return usage;
}

/** The lines of a file that hold the text, without regard to case; none of a file that is no UTF-8. */
export async function* matchesIn(file: string, path: string, text: string): AsyncGenerator<Match> {
  const content = decode(await readFile(file));
  if (content === null) return;
  const wanted = text.toLowerCase();
  let offset = 0;
  for (const [index, line] of content.split('\n').entries()) {
    const at = line.toLowerCase().indexOf(wanted);
    if (at >= 0) yield { path, line: index + 1, offset, text: around(line, at) };
    offset += Buffer.byteLength(line) + 1;
  }
}

/** The part of the line that shows the match; control characters, which would be six bytes of JSON each, as spaces. */
function around(line: string, at: number): string {
  const from = Math.max(0, Math.min(at - snippet / 4, line.length - snippet));
  return line
    .slice(from, from + snippet)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

async function measured(folder: string, entry: Dirent): Promise<Entry | null> {
  if (entry.isDirectory()) return { name: entry.name, kind: 'directory', bytes: 0 };
  try {
    const stats = await lstat(join(folder, entry.name));
    return isOwnFile(stats) ? { name: entry.name, kind: 'file', bytes: stats.size } : null;
  } catch (error) {
    return nothingAt(error);
  }
}

async function read(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    return nothingAt(error) ?? [];
  }
}

/** Removed in the meantime is as if it had never been there. */
function nothingAt(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}

function isOurs(entry: Dirent): boolean {
  return entry.isFile() || entry.isDirectory();
}
