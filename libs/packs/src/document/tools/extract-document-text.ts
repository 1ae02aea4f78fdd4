import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { passageAt } from '../document.js';
import { defineDocumentTool } from '../capability.js';
import { documentPath } from './shape.js';

/** UTF-16 code units of one part; as JSON each may take six bytes, but text seldom takes more than two. */
const longestPart = 12_000;
const partBytes = 24_000;

export const extractDocumentText = defineDocumentTool({
  type: 'extract_document_text',
  description:
    'Extract the text of a PDF, DOCX, HTML or text document. ' +
    `Returns format, hash, pages and the text, at most ${longestPart} characters at a time: go on at next_offset while there is one. ` +
    'Offsets are those of all document tools and of citations. Pictures are not read. Example: { "path": "contract.pdf" }.',
  shortDescription: 'Extract the text of a PDF, DOCX, HTML or text document, in parts if it is long, to read it.',
  category: 'document',
  input: z.object({
    path: documentPath,
    offset: z.int().min(0).default(0).describe('Character to begin at: 0, or the next_offset of the part before.'),
    limit: z
      .int()
      .min(1)
      .max(longestPart)
      .default(longestPart)
      .describe(`How many characters to return, up to ${longestPart}.`),
  }),
  output: z.object({
    text: z.string(),
    offset: z.int(),
    next_offset: z.int().optional(),
    characters: z.int(),
    format: z.enum(['pdf', 'docx', 'html', 'text']),
    sha256: z.string(),
    pages: z.int().optional(),
    page: z.int().optional(),
    section: z.string().optional(),
    notes: z.array(z.string()).optional(),
  }),
  effect: 'read_only',
  redaction: {
    fields: ['text', 'offset', 'next_offset', 'characters', 'format', 'sha256', 'pages', 'page', 'section', 'notes'],
  },
  capabilities: ['documents', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, offset, limit }, _context, { documents, cancellation }) => {
    const document = await documents.read(path, cancellation.signal);
    const { text, format, sha256, pages, notes } = document;
    if (text === '' && notes.length > 0)
      throw new ToolUserError(`“${path}” holds no text that can be read. ${notes.join(' ')}`);
    if (text === '')
      throw new ToolUserError(`“${path}” holds no text. If its pages are pictures, they need text recognition first.`);
    if (offset >= text.length)
      throw new ToolUserError(`The text has ${text.length} characters. Give an offset below that.`);
    const end = fittingEnd(text, offset, offset + limit);
    const { page, section } = passageAt(document, offset, end);
    return {
      text: text.slice(offset, end),
      offset,
      ...(end < text.length ? { next_offset: end } : {}),
      characters: text.length,
      format,
      sha256,
      ...(pages === null ? {} : { pages }),
      ...(page === undefined ? {} : { page }),
      ...(section === undefined ? {} : { section }),
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
    };
  },
});

/** Whole characters only, and few enough bytes; ends behind a word where it can. */
function fittingEnd(text: string, start: number, wanted: number): number {
  let end = Math.min(wanted, text.length);
  while (end > start + 1 && Buffer.byteLength(JSON.stringify(text.slice(start, end))) > partBytes)
    end = start + Math.floor((end - start) * 0.8);
  if (end === text.length) return end;
  const space = text.lastIndexOf(' ', end);
  if (space > start + (end - start) * 0.8) return space + 1;
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code < 0xe000 ? (end - 1 > start ? end - 1 : end + 1) : end;
}
