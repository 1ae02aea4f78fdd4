import type { ParsedDocument } from './document.js';
import { docxNotes } from './docx-notes.js';
import { parseHtml } from './parse-html.js';

/**
 * A Word document by its structure: headings, lists and tables as Word names them. Pictures are left out, what stands
 * outside of the text is noted, and no file it refers to is opened.
 */
export async function parseDocx(bytes: Uint8Array, most: number): Promise<ParsedDocument> {
  const { default: mammoth } = await import('mammoth');
  const noPicture = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage: noPicture });
  return { ...parseHtml(value, most), notes: await docxNotes(bytes) };
}
