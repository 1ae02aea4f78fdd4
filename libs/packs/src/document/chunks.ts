import { passageAt } from './document.js';
import type { Block, ParsedDocument, Passage } from './document.js';

interface Chunk extends Passage {
  /** From 0. */
  readonly index: number;
  readonly text: string;
  readonly tokens: number;
  /** Characters at the beginning that the chunk before has as well. */
  readonly overlap: number;
}

interface ChunkOptions {
  /** `structure` keeps sections, paragraphs and sentences whole where they fit; `tokens` fills each chunk. */
  readonly by: 'structure' | 'tokens';
  /** Tokens of a chunk, its overlap included. */
  readonly size: number;
  readonly overlap: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The document in chunks: each without its overlap, put together again, is the text. Throws nothing; a single
 * character is never divided, so a chunk of one character may have more tokens than the size.
 */
export function chunksOf(
  document: ParsedDocument,
  options: ChunkOptions,
  count: (text: string) => number,
): readonly Chunk[] {
  const { text, blocks } = document;
  const room = options.size - options.overlap;
  const measure = ({ start, end }: Span): number => count(text.slice(start, end));
  const pieces = options.by === 'tokens' ? [{ start: 0, end: text.length }] : sectionsOf(blocks, text.length);
  const spans = pieces.flatMap((piece) => fill(divide(piece, room, options.by, document, measure), room, measure));
  return spans.map((span, index) => {
    const from = index === 0 ? span.start : backTo(text, span.start, options.overlap, count);
    const whole = text.slice(from, span.end);
    return {
      index,
      ...passageAt(document, span.start, span.end),
      text: whole,
      tokens: count(whole),
      overlap: span.start - from,
    };
  });
}

/** From each heading to the next one; what is between belongs to what is before. */
function sectionsOf(blocks: readonly Block[], length: number): Span[] {
  const starts = blocks.flatMap((block, at) =>
    block.kind === 'heading' && blocks[at - 1]?.kind !== 'heading' && at > 0 ? [block.start] : [],
  );
  return [0, ...starts]
    .map((start, at) => ({ start, end: starts[at] ?? length }))
    .filter(({ start, end }) => end > start);
}

/** The span in parts that each fit: blocks, else sentences, else words, else characters. */
function divide(
  span: Span,
  room: number,
  by: ChunkOptions['by'],
  document: ParsedDocument,
  measure: (span: Span) => number,
): Span[] {
  if (measure(span) <= room) return [span];
  const parts = by === 'structure' ? [blockParts, sentenceParts, wordParts] : [wordParts];
  const smaller = parts.map((each) => each(span, document)).find((found) => found.length > 1);
  if (smaller !== undefined) return smaller.flatMap((each) => divide(each, room, by, document, measure));
  const half = middle(document.text, span);
  if (half === span.start || half === span.end) return [span];
  return [
    { start: span.start, end: half },
    { start: half, end: span.end },
  ].flatMap((each) => divide(each, room, by, document, measure));
}

function blockParts({ start, end }: Span, { blocks }: ParsedDocument): Span[] {
  return between(
    start,
    end,
    blocks.map((block) => block.start),
  );
}

function sentenceParts({ start, end }: Span, { text }: ParsedDocument): Span[] {
  const found = [...text.slice(start, end).matchAll(/[.!?;:]\s+/g)];
  return between(
    start,
    end,
    found.map(({ 0: all, index }) => start + index + all.length),
  );
}

/** White space belongs to the word behind it, as it does for tokenizers. */
function wordParts({ start, end }: Span, { text }: ParsedDocument): Span[] {
  const found = [...text.slice(start, end).matchAll(/(?<=\S)\s/g)];
  return between(
    start,
    end,
    found.map(({ index }) => start + index),
  );
}

function between(start: number, end: number, cuts: readonly number[]): Span[] {
  const inside = cuts.filter((cut) => cut > start && cut < end);
  return [start, ...inside].map((from, at) => ({ start: from, end: inside[at] ?? end }));
}

function middle(text: string, { start, end }: Span): number {
  const half = Math.floor((start + end) / 2);
  const code = text.charCodeAt(half);
  return code >= 0xdc00 && code < 0xe000 ? half + (half + 1 < end ? 1 : -1) : half;
}

/** Neighbours together, as many as fit. */
function fill(parts: readonly Span[], room: number, measure: (span: Span) => number): Span[] {
  const filled: Span[] = [];
  let tokens = 0;
  for (const part of parts) {
    const last = filled.at(-1);
    const own = measure(part);
    if (last === undefined || tokens + own > room) {
      filled.push(part);
      tokens = own;
      continue;
    }
    filled[filled.length - 1] = { start: last.start, end: part.end };
    tokens += own;
  }
  return filled;
}

/** Where the overlap begins: at a word, at most so many tokens before `start`. */
function backTo(text: string, start: number, overlap: number, count: (text: string) => number): number {
  if (overlap === 0) return start;
  const before = text.slice(Math.max(0, start - overlap * 12), start);
  const cuts = [...before.matchAll(/(?<=\S)\s/g)].map(({ index }) => start - before.length + index).reverse();
  let from = start;
  for (const cut of cuts) {
    if (count(text.slice(cut, start)) > overlap) break;
    from = cut;
  }
  return from;
}
