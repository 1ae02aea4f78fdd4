// A process that parses one document, from standard input. It has no environment, can read the packages it runs on
// and nothing else, and writes what it found to its fourth file: what a parser prints is no answer.
import { writeSync } from 'node:fs';
import { Buffer } from 'node:buffer';
import { documentLimits } from './document.js';
import type { ParsedDocument } from './document.js';
import { htmlText } from './html-charset.js';
import { parseHtml } from './parse-html.js';
import { parsePdf } from './parse-pdf.js';
import { docxNotes } from './docx-notes.js';

/** What the process says. */
export type Parsed =
  { readonly ok: true; readonly document: ParsedDocument } | { readonly ok: false; readonly message: string };

async function parse(format: string, charset: string | null, bytes: Buffer): Promise<ParsedDocument> {
  const { textCharacters: characters, pages } = documentLimits;
  switch (format) {
    case 'pdf':
      return parsePdf(new Uint8Array(bytes), { characters, pages });
    case 'docx':
      return parseDocx(bytes, characters);
    default:
      return parseHtml(htmlText(bytes, charset), characters);
  }
}

function answer(said: Parsed): void {
  const bytes = Buffer.from(JSON.stringify(said));
  for (let at = 0; at < bytes.length;) at += writeSome(bytes.subarray(at));
}

/** A pipe that is full for the moment takes nothing; its reader is at work. */
function writeSome(bytes: Buffer): number {
  try {
    return writeSync(3, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}

const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
try {
  answer({ ok: true, document: await parse(process.argv[2] ?? '', process.argv[3] ?? null, Buffer.concat(parts)) });
} catch (error) {
  answer({ ok: false, message: error instanceof Error ? error.message : String(error) });
}
process.exit();

/**
 * A Word document by its structure: headings, lists and tables as Word names them. Pictures are left out, what stands
 * outside of the text is noted, and no file it refers to is opened.
 */
async function parseDocx(bytes: Uint8Array, most: number): Promise<ParsedDocument> {
  const { default: mammoth } = await import('mammoth');
  const noPicture = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage: noPicture });
  return { ...parseHtml(value, most), notes: await docxNotes(bytes) };
}
