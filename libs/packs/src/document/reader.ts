import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { Confined } from '../workspace/confined.js';
import { entriesOf } from '../workspace/contents.js';
import { namesOf } from '../workspace/path.js';
import type { Workspace } from '@sluice/tools';
import { documentLimits } from './document.js';
import type { DocumentFormat, DocumentReader, ParsedDocument, ReadDocument } from './document.js';
import { formatOf } from './format.js';
import { parseInProcess } from './parse-process.js';
import { parseText } from './parse-text.js';

/** Documents as they were parsed, by the hash of their bytes: the tools of a pack read the same one again and again. */
export class ParsedDocuments {
  private readonly kept = new Map<string, Promise<ParsedDocument>>();

  constructor(private readonly most = 8) {}

  /** `charset`: what the header says that the document came with. */
  async of(
    sha256: string,
    format: DocumentFormat,
    bytes: Uint8Array,
    signal: AbortSignal,
    charset: string | null = null,
  ): Promise<ParsedDocument> {
    const key = `${format} ${charset ?? ''} ${sha256}`;
    const known = this.kept.get(key);
    if (known !== undefined) {
      this.keep(key, known);
      return known;
    }
    // Not shared before it has ended: who waited for it would lose it with the call that began it.
    const parsed =
      format === 'text' ? textOf(bytes, charset) : await parseInProcess(format, bytes, signal, { charset });
    this.keep(key, Promise.resolve(parsed));
    return parsed;
  }

  private keep(key: string, parsed: Promise<ParsedDocument>): void {
    this.kept.delete(key);
    this.kept.set(key, parsed);
    const [oldest] = this.kept.keys();
    if (this.kept.size > this.most && oldest !== undefined) this.kept.delete(oldest);
  }
}

/**
 * Reads documents of the workspace, and where there is none of that path, of the folder, which is shared by all
 * sessions and only read. Links in it are not followed.
 */
export function openDocuments(workspace: Workspace, folder: string | null, parsed: ParsedDocuments): DocumentReader {
  return {
    read: async (path, signal): Promise<ReadDocument> => {
      const bytes = (await workspace.bytes(path)) ?? (folder === null ? null : await inFolder(folder, path));
      if (bytes === null) throw await missing(path, folder);
      const format = formatOf(path, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { path, format, sha256, ...(await parsed.of(sha256, format, bytes, signal)) };
    },
  };
}

function textOf(bytes: Uint8Array, charset: string | null): ParsedDocument {
  try {
    return parseText(bytes, documentLimits.textCharacters, charset);
  } catch (error) {
    throw new ToolUserError(`The document cannot be read as text: ${(error as Error).message}.`);
  }
}

async function inFolder(folder: string, path: string): Promise<Uint8Array | null> {
  const names = namesOf(path);
  return guarded(async () => {
    const files = new Confined(await realpath(folder));
    const place = await files.at(names);
    if (place.stats === null || !place.stats.isFile()) return null;
    if (place.stats.size > documentLimits.fileBytes) {
      throw new ToolUserError(
        `The document has ${place.stats.size} bytes, and ${documentLimits.fileBytes} are the most. Divide it.`,
      );
    }
    const handle = await files.open(place, constants.O_RDONLY);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  });
}

async function missing(path: string, folder: string | null): Promise<ToolUserError> {
  const shared = folder === null ? [] : await guarded(async () => entriesOf(await realpath(folder)));
  const names = shared.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const known =
    names.length === 0
      ? 'list_files shows the files of the workspace.'
      : `Documents for all are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' and others' : ''}; list_files shows those of the workspace.`;
  return new ToolUserError(`There is no document “${path.slice(0, 200)}”. ${known}`);
}

/** What the file system says stays with the operator. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (typeof error !== 'object' || error === null || !('syscall' in error)) throw error;
    throw new ToolUnavailableError('The folder of the documents cannot be read.', { cause: error });
  }
}
