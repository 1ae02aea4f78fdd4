import { byMark, labelled, undeclared } from './html-charset.js';
import type { Block, ParsedDocument } from './document.js';

/**
 * Plain text and Markdown: blocks are divided by empty lines, headings are those of Markdown or numbered lines that
 * stand alone.
 */
export function parseText(bytes: Uint8Array, most: number, header: string | null = null): ParsedDocument {
  const text = decoded(bytes, header).replace(/\r\n?/g, '\n').toWellFormed();
  if (text.length > most) throw new Error(`its text is longer than ${most} characters`);
  if (text.includes('\0')) throw new Error('it is no text');
  const blocks: Block[] = [];
  let fenced = false;
  for (const { 0: paragraph, index } of text.matchAll(/[^\n]+(?:\n[^\S\n]*[^\s][^\n]*)*/g)) {
    if (paragraph.trim() === '') continue;
    let start = index;
    let open = false;
    for (const line of paragraph.split('\n')) {
      const end = start + line.length;
      if (/^\s*```/.test(line)) fenced = !fenced;
      const level = fenced ? 0 : levelOf(line, paragraph);
      if (level > 0) blocks.push({ kind: 'heading', level, start, end });
      else if (!fenced && /^\s*(?:[-*•+]|\d+[.)])\s+\S/.test(line)) blocks.push({ kind: 'item', start, end });
      else if (open) blocks.push({ ...(blocks.pop() as Block), end });
      else blocks.push({ kind: 'paragraph', start, end });
      open = level === 0;
      start = end + 1;
    }
  }
  return { text, blocks, pages: null, notes: [] };
}

/** The level of a heading, 0 for any other line. */
export function levelOf(line: string, paragraph: string): number {
  const [, marks] = /^\s{0,3}(#{1,6})\s+\S/.exec(line) ?? [];
  if (marks !== undefined) return marks.length;
  const [, number] = /^(\d+(?:\.\d+)*)\.?\s+\p{Lu}[^.!?:;]{0,80}$/u.exec(line.trim()) ?? [];
  return number === undefined || paragraph.includes('\n') ? 0 : Math.min(6, number.split('.').length);
}

/** By its byte order mark, else by the header it came with, else UTF-8, else Windows-1252. */
function decoded(bytes: Uint8Array, header: string | null): string {
  const charset = byMark(bytes) ?? labelled(header);
  return charset === null ? undeclared(bytes) : new TextDecoder(charset).decode(bytes);
}
