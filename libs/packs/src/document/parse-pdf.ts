import type { Block, ParsedDocument } from './document.js';
import { BlockBuilder } from './block-builder.js';
import { levelOf } from './parse-text.js';

interface Line {
  text: string;
  y: number;
  height: number;
}

/** The text layer of a PDF, page by page. A page that is a picture has none. */
export async function parsePdf(
  bytes: Uint8Array,
  limits: { readonly characters: number; readonly pages: number },
): Promise<ParsedDocument> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0 });
  if (pdf.numPages > limits.pages) throw new Error(`it has ${pdf.numPages} pages, and ${limits.pages} are the most`);
  const builder = new BlockBuilder(limits.characters);
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const lines: Line[] = [];
    let open = false;
    for (const item of items) {
      if (!('str' in item)) continue;
      const y = Number(item.transform[5]);
      if (open) (lines.at(-1) as Line).text += item.str;
      else if (item.str.trim() !== '') lines.push({ text: item.str, y, height: item.height });
      open = lines.length > 0 && !item.hasEOL && item.str.trim() !== '' ? true : open && !item.hasEOL;
    }
    addLines(builder, lines, number);
    page.cleanup();
  }
  return builder.build(pdf.numPages);
}

/** Lines that follow each other closely and in one size are a paragraph. */
function addLines(builder: BlockBuilder, lines: readonly Line[], page: number): void {
  const usual = median(lines.map(({ height }) => height));
  let paragraph: Line[] = [];
  const flush = (): void => {
    const text = joined(paragraph.map((line) => line.text));
    const [first] = paragraph;
    paragraph = [];
    if (first !== undefined) builder.add(text, { ...kindOf(text, first, usual), page });
  };
  for (const line of lines) {
    const before = paragraph.at(-1);
    const apart = before !== undefined && Math.abs(before.y - line.y) > 1.7 * Math.max(before.height, line.height, 1);
    const resized = before !== undefined && Math.abs(before.height - line.height) > 0.5;
    if (apart || resized || /^\s*(?:[-•*–]|\d+[.)]|\d+(?:\.\d+)+)\s+\S/.test(line.text)) flush();
    paragraph.push(line);
  }
  flush();
}

function kindOf(text: string, { height }: Line, usual: number): Omit<Block, 'start' | 'end'> {
  const isTall = height > usual * 1.15 && text.length <= 120;
  const level = isTall ? (height > usual * 1.5 ? 1 : 2) : levelOf(text, text);
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
