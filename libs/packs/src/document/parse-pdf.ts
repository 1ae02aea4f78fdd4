import type { Block, ParsedDocument } from './document.js';
import { BlockBuilder } from './block-builder.js';
import { levelOf } from './parse-text.js';

interface Line {
  text: string;
  y: number;
  height: number;
  /** The font of all of it; null if there are several. */
  font: string | null;
}

/** The text layer of a PDF, page by page. A page that is a picture has none. */
export async function parsePdf(
  bytes: Uint8Array,
  limits: { readonly characters: number; readonly pages: number },
): Promise<ParsedDocument> {
  const { getDocumentProxy } = await import('unpdf');
  const maps = new Set<string>();
  /** pdf.js has no predefined character maps with it, and goes on without the text that needs one. */
  const BinaryDataFactory = class {
    fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
      if (kind === 'cMapUrl') maps.add(filename.replace(/\.bcmap$/, ''));
      return Promise.reject(new Error(`${filename} is not here`));
    }
  };
  const pdf = await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0, BinaryDataFactory });
  if (pdf.numPages > limits.pages) throw new Error(`it has ${pdf.numPages} pages, and ${limits.pages} are the most`);
  const builder = new BlockBuilder(limits.characters);
  const empty: number[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const lines: Line[] = [];
    let open = false;
    for (const item of items) {
      if (!('str' in item)) continue;
      const y = Number(item.transform[5]);
      const line = lines.at(-1);
      if (open && line !== undefined) {
        line.text += item.str;
        if (item.str.trim() !== '' && item.fontName !== line.font) line.font = null;
      } else if (item.str.trim() !== '') lines.push({ text: item.str, y, height: item.height, font: item.fontName });
      open = lines.length > 0 && !item.hasEOL && item.str.trim() !== '' ? true : open && !item.hasEOL;
    }
    if (lines.length === 0) empty.push(number);
    addLines(builder, lines, number);
    page.cleanup();
  }
  return builder.build(pdf.numPages, notesOf([...maps], empty, pdf.numPages));
}

function notesOf(maps: readonly string[], empty: readonly number[], pages: number): readonly string[] {
  const named = empty.slice(0, 20).join(', ') + (empty.length > 20 ? ' and others' : '');
  if (maps.length > 0)
    return [
      `Some of its text cannot be read: its fonts use the character map${maps.length > 1 ? 's' : ''} ${maps.join(', ').slice(0, 200)}, which this program does not have. Export it again with embedded fonts, or as DOCX.`,
    ];
  return empty.length > 0 && empty.length < pages
    ? [`These pages hold no text: ${named}. If they are pictures, they need text recognition first.`]
    : [];
}

/** Lines that follow each other closely, in one size and one font, are a paragraph; a heading is one by itself. */
function addLines(builder: BlockBuilder, lines: readonly Line[], page: number): void {
  const usual = median(lines.map(({ height }) => height));
  const fonts = lines.flatMap(({ font, text }) => Array.from(text, () => font));
  const usualFont = mostFrequent(fonts);
  let paragraph: Line[] = [];
  let isHeading = false;
  const flush = (): void => {
    const text = joined(paragraph.map((line) => line.text));
    const [first] = paragraph;
    paragraph = [];
    if (first !== undefined) builder.add(text, { ...kindOf(text, first, usual, isHeading), page });
    isHeading = false;
  };
  for (const line of lines) {
    const before = paragraph.at(-1);
    const apart = before !== undefined && Math.abs(before.y - line.y) > 1.7 * Math.max(before.height, line.height, 1);
    const resized = before !== undefined && Math.abs(before.height - line.height) > 0.5;
    // One line of a font of its own, or with a number, and the text goes on below it in another way.
    const title = before !== undefined && paragraph.length === 1 && isTitle(before, line, usualFont);
    isHeading ||= title;
    if (apart || resized || title || /^\s*(?:[-•*–]|\d+[.)]|\d+(?:\.\d+)+)\s+\S/.test(line.text)) flush();
    paragraph.push(line);
  }
  flush();
}

function kindOf(text: string, { height }: Line, usual: number, isHeading: boolean): Omit<Block, 'start' | 'end'> {
  const isTall = height > usual * 1.15 && text.length <= 120;
  const level = isTall ? (height > usual * 1.5 ? 1 : 2) : levelOf(text, text) || (isHeading ? 2 : 0);
  if (level > 0) return { kind: 'heading', level };
  return { kind: /^(?:[-•*–]|\d+[.)])\s/.test(text) ? 'item' : 'paragraph' };
}

/** A word that was divided at the end of a line is one word again. */
function joined(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join('\n')
    .replace(/(\p{Ll})-\n(\p{Ll})/gu, '$1$2')
    .replace(/\s+/g, ' ');
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Whether the line is the heading of the one below it. */
function isTitle(line: Line, below: Line, usualFont: string | null): boolean {
  const text = line.text.trim();
  if (text.length > 80 || /[.,:;!?]$/.test(text) || !/^[\p{Lu}\d§]/u.test(text)) return false;
  const isOfItsFont = line.font !== null && line.font !== usualFont && line.font !== below.font;
  return isOfItsFont || (levelOf(text, text) > 0 && /^\p{Lu}/u.test(below.text.trim()));
}

function mostFrequent(values: readonly (string | null)[]): string | null {
  const counts = new Map<string | null, number>();
  for (const each of values) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}
