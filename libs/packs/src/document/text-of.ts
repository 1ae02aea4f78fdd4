import { createHash } from 'node:crypto';
import { cut, ToolUserError } from '@sluice/core';
import { documentLimits } from './document.js';
import { formatOf } from './format.js';
import { ParsedDocuments } from './reader.js';

/** A file as content has it: its bytes, its media type, and the name it came with. */
interface NamedFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly name: string | null;
}

/** The text of a file, or why there is none. */
type FileText =
  | {
      readonly ok: true;
      readonly text: string;
      /** Characters that the whole text has; more than `text` where that was cut. */
      readonly characters: number;
      /** Null where its format has none. */
      readonly pages: number | null;
      /** Sentences about what the file holds and the text does not. */
      readonly notes: readonly string[];
    }
  /** `why` is a sentence that the file's sender can read. */
  | { readonly ok: false; readonly why: string };

const parsed = new ParsedDocuments();

/** Endings by which files are read whose name has none. */
const endings: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/html': 'html',
};

/**
 * The text of a file for a model that takes no files: of text, CSV, JSON and Markdown the text itself, of PDF, DOCX
 * and HTML what stands in it. Those are read in a process of its own, bounded in memory, time and pages
 * (documentLimits), so that a hostile file ends that process alone; what was read last is kept. Throws only where the
 * signal aborts and where no process can be started.
 */
export async function textOf(
  { bytes, type, name }: NamedFile,
  { characters }: { readonly characters: number },
  signal: AbortSignal,
): Promise<FileText> {
  const most = documentLimits.fileBytes;
  if (bytes.length > most) return { ok: false, why: `The file has ${bytes.length} bytes, and ${most} are the most that are read. Divide it.` }; // prettier-ignore
  const path = pathOf(name ?? 'file', type);
  try {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const { text, pages, notes } = await parsed.of(sha256, formatOf(path, bytes), bytes, signal);
    if (text.trim() === '') return { ok: false, why: withoutText(pages) };
    return { ok: true, text: cut(text, characters), characters: text.length, pages, notes };
  } catch (error) {
    if (!(error instanceof ToolUserError)) throw error;
    return { ok: false, why: error.message };
  }
}

/** A name whose ending says how the file is read; by its type where it has none. */
function pathOf(name: string, type: string): string {
  const ending = endings[type.split(';', 1)[0]?.trim().toLowerCase() ?? ''];
  return ending === undefined || /\.[a-z0-9]+$/i.test(name) ? name : `${name}.${ending}`;
}

function withoutText(pages: number | null): string {
  return pages === null
    ? 'The file has no text.'
    : 'The file has no text: its pages are pictures. Send them as images, to a model that takes images.';
}
