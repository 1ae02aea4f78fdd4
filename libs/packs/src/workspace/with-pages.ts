import { ToolUserError } from '@sluice/core';
import { shown } from './confined.js';
import { namesOf } from './path.js';
import { firstCharacter, lastWhole } from './text.js';
import type { Entry, EntryKind, FilePart, Match, Workspace } from '@sluice/tools';
import { workspaceLimits } from '@sluice/tools';

/** A folder of texts that a workspace has, without a file of it being anywhere. */
interface Pages {
  /** The folder’s name, at the top of the workspace. */
  readonly folder: string;
  /** By the name of the file. */
  readonly files: ReadonlyMap<string, string>;
  /** Other names under which a file is read. */
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * A workspace with a folder of pages, to be read and not to be changed. They follow from what is given here, so they
 * are there before anything was written, are never out of date, and take no room. A folder of the same name that the
 * workspace has is not seen beside it.
 */
export function withPages(workspace: Workspace, pages: Pages): Workspace {
  const { folder, files } = pages;
  const isWithin = (names: readonly string[]): boolean => names[0] === folder;
  const kept = (path: string): string => {
    if (isWithin(namesOf(path)))
      throw new ToolUserError(
        `The folder ${folder} holds the documentation of the tools and cannot be changed. Choose another folder.`,
      );
    return path;
  };
  const own: Entry = { name: folder, kind: 'directory', bytes: 0 };
  return {
    read: async (path, offset, limit) => {
      const names = namesOf(path);
      return isWithin(names)
        ? partOfText(pageAt(names, pages), names, offset, limit)
        : workspace.read(path, offset, limit);
    },
    bytes: async (path) => {
      const names = namesOf(path);
      if (!isWithin(names)) return workspace.bytes(path);
      const text = fileAt(names, pages);
      return text === undefined ? null : Buffer.from(text);
    },
    write: async (path, text) => workspace.write(kept(path), text),
    append: async (path, text) => workspace.append(kept(path), text),
    remove: async (path) => workspace.remove(kept(path)),
    list: async (path, offset, limit) => {
      const names = namesOf(path);
      if (names.length > 0 && !isWithin(names)) return workspace.list(path, offset, limit);
      const entries =
        names.length === 0
          ? [
              ...(await workspace.list(path, 0, workspaceLimits.entries)).entries.filter(({ name }) => name !== folder),
              own,
            ]
          : listed(names, pages);
      const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { entries: sorted.slice(offset, offset + limit), total: sorted.length };
    },
    search: async (text, path, limit, signal) => {
      const names = namesOf(path);
      const mine = names.length === 0 || isWithin(names) ? matchesOf(text, names, pages) : [];
      if (isWithin(names)) return { matches: mine.slice(0, limit), truncated: mine.length > limit };
      const found = await workspace.search(text, path, limit, signal);
      const matches = [...found.matches.filter((match) => !isWithin(namesOf(match.path))), ...mine];
      return { matches: matches.slice(0, limit), truncated: found.truncated || matches.length > limit };
    },
    kindOf: async (path) => {
      const names = namesOf(path);
      return isWithin(names) ? kindOf(names, pages) : workspace.kindOf(path);
    },
    usage: async () => {
      const used = await workspace.usage();
      const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      return { files: used.files + files.size, directories: used.directories + 1, bytes: used.bytes + bytes };
    },
  };
}

function fileAt(names: readonly string[], { files, aliases }: Pages): string | undefined {
  const [, name = '', ...deeper] = names;
  return deeper.length > 0 ? undefined : (files.get(name) ?? files.get(aliases.get(name) ?? ''));
}

function kindOf(names: readonly string[], pages: Pages): EntryKind | null {
  if (names.length === 1) return 'directory';
  return fileAt(names, pages) === undefined ? null : 'file';
}

function pageAt(names: readonly string[], pages: Pages): string {
  const text = fileAt(names, pages);
  if (text !== undefined) return text;
  if (names.length === 1) throw new ToolUserError(`${shown(names)} is a directory. List it with list_files.`);
  throw missing(names, pages);
}

function listed(names: readonly string[], pages: Pages): Entry[] {
  if (names.length === 1)
    return [...pages.files].map(([name, text]) => ({ name, kind: 'file', bytes: Buffer.byteLength(text) }));
  if (fileAt(names, pages) !== undefined) throw new ToolUserError(`${shown(names)} is a file. Read it with read_file.`);
  throw missing(names, pages);
}

function missing(names: readonly string[], { folder, files }: Pages): ToolUserError {
  const [first = ''] = files.keys();
  return new ToolUserError(`There is no ${shown(names)}. The pages of the tools are listed in ${folder}/${first}.`);
}

function partOfText(text: string, names: readonly string[], wanted: number, limit: number): FilePart {
  const bytes = Buffer.from(text);
  const size = bytes.length;
  if (wanted > size) throw new ToolUserError(`${shown(names)} has ${size} bytes. Give an offset from 0 to ${size}.`);
  const part = bytes.subarray(wanted, wanted + limit);
  const begin = firstCharacter(part);
  const end = wanted + part.length < size ? lastWhole(part) : part.length;
  const nextOffset = wanted + end < size ? wanted + end : null;
  return { text: part.subarray(begin, end).toString('utf8'), offset: wanted + begin, size, nextOffset };
}

/** Longest part of a line that a match shows. */
const longestMatch = 120;

function matchesOf(text: string, names: readonly string[], { folder, files }: Pages): readonly Match[] {
  const wanted = text.toLowerCase();
  return [...files].flatMap(([name, page]) => {
    if (names.length > 1 && names[1] !== name) return [];
    let offset = 0;
    return page.split('\n').flatMap((line, index) => {
      const match = {
        path: `${folder}/${name}`,
        line: index + 1,
        offset,
        text: line.slice(0, longestMatch).toWellFormed(),
      };
      offset += Buffer.byteLength(line) + 1;
      return line.toLowerCase().includes(wanted) ? [match] : [];
    });
  });
}
