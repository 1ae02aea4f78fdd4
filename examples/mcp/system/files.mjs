import { randomUUID } from 'node:crypto';
import { lstat, opendir, rename, rm, unlink, writeFile as write } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { requireFile, requireReal } from './folders.mjs';
import { globMatcher } from './glob.mjs';
import { fromSystem, noDirectory, notText, tooLarge } from './refusals.mjs';

export const largestFile = 1_000_000;
const mostListed = 1_000;
/** What a search looks at before it ends with what it has found. */
const mostVisited = 50_000;
const deepest = 32;

export async function readFile(folders, filepath) {
  const handle = await folders.openFile(await folders.place(filepath));
  try {
    const { size } = await handle.stat();
    if (size > largestFile) throw tooLarge(filepath, size, largestFile);
    // One byte more than is allowed tells that the file has grown meanwhile.
    const buffer = Buffer.alloc(largestFile + 1);
    let bytes = 0;
    for (let read = 1; read > 0 && bytes < buffer.byteLength; bytes += read)
      ({ bytesRead: read } = await handle.read(buffer, bytes, buffer.byteLength - bytes, bytes));
    if (bytes > largestFile) throw tooLarge(filepath, bytes, largestFile);
    return { filepath, bytes, content: decode(buffer.subarray(0, bytes), filepath) };
  } finally {
    await handle.close();
  }
}

export async function listFiles(folders, path) {
  const { path: folder } = await directory(folders, path);
  const names = [];
  for await (const entry of entriesOf(folder, path)) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  names.sort();
  return { files: names.slice(0, mostListed), more: names.length > mostListed };
}

/**
 * Files alone, in order of their paths; links are not followed, and folders that are closed to the server are
 * skipped.
 */
export async function searchFiles(folders, path, pattern) {
  const { path: start } = await directory(folders, path);
  const matches = globMatcher(pattern);
  const files = [];
  let visited = 0;
  const waiting = [{ folder: start, depth: 0 }];
  while (waiting.length > 0 && visited < mostVisited) {
    const { folder, depth } = waiting.pop();
    try {
      for await (const entry of entriesOf(folder, path)) {
        if (++visited > mostVisited) break;
        const found = join(folder, entry.name);
        if (entry.isDirectory() && depth < deepest) waiting.push({ folder: found, depth: depth + 1 });
        const shown = relative(start, found).replaceAll(sep, '/');
        if (entry.isFile() && matches(shown)) files.push(shown);
      }
    } catch (error) {
      if (folder === start) throw error;
    }
  }
  files.sort();
  return { files: files.slice(0, mostListed), more: files.length > mostListed || visited >= mostVisited };
}

/**
 * The whole new text or the old one, whatever happens meanwhile: it is written beside the file, which it then
 * replaces.
 */
export async function writeFile(folders, filepath, content) {
  const bytes = Buffer.byteLength(content);
  if (bytes > largestFile) throw tooLarge(filepath, bytes, largestFile);
  const { path, stats } = await folders.place(filepath);
  if (stats !== null) requireFile(stats, filepath);
  const beside = join(dirname(path), `.writing-${randomUUID()}`);
  try {
    await write(beside, content, { flag: 'wx', flush: true });
    await requireReal(dirname(path), filepath);
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error.code === undefined ? error : fromSystem(error, filepath);
  }
  return { filepath, bytes };
}

export async function deleteFile(folders, filepath) {
  const { path, stats } = await folders.place(filepath);
  if (stats === null) throw fromSystem({ code: 'ENOENT' }, filepath);
  requireFile(stats, filepath);
  await unlink(path).catch((error) => {
    throw fromSystem(error, filepath);
  });
  return { filepath, deleted: true };
}

async function directory(folders, path) {
  const place = await folders.place(path);
  if (place.stats === null) throw fromSystem({ code: 'ENOENT' }, path);
  if (!place.stats.isDirectory()) throw noDirectory(path);
  return place;
}

/** Entries of a folder that is still a folder, not a link that took its place. */
async function* entriesOf(folder, shown) {
  try {
    if (!(await lstat(folder)).isDirectory()) throw noDirectory(shown);
    yield* await opendir(folder);
  } catch (error) {
    throw error.code === undefined ? error : fromSystem(error, shown);
  }
}

function decode(bytes, filepath) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notText(filepath);
  }
}
