import type { Block, ParsedDocument } from './document.js';

export interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly kind: Block['kind'];
}

export type Language = 'de' | 'en';

/** What ends in a dot and ends no sentence, in German and in English. */
const abbreviation =
  /(?:^|[\s(])(?:z\.\s?B|u\.\s?a|d\.\s?h|i\.\s?d\.\s?R|i\.\s?V\.\s?m|o\.\s?ä|bzw|ca|vgl|ggf|inkl|max|min|Nr|Abs|Art|Rz|Satz|Ziff|Tz|Abb|Kap|S|Dr|Hr|Fr|usw|etc|e\.g|i\.e|cf|No|Sec|Fig|approx|Mr|Mrs|St|\p{L}|\d{1,2})\.\s*$/u;

const words: Readonly<Record<Language, RegExp>> = {
  de: /\b(?:der|die|das|und|ist|sind|nicht|ein|eine|mit|für|von|dem|den|des|werden|wird|muss|müssen|soll|zu|auf|im|bei)\b/giu,
  en: /\b(?:the|and|is|are|not|an|with|for|of|that|shall|must|should|be|to|on|in|by|this|it|from|a)\b/giu,
};

/** German where its small words are the more frequent ones, else English. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, 20_000);
  const german = (sample.match(words.de) ?? []).length + 3 * (sample.match(/[äöüß]/gi) ?? []).length;
  return german > (sample.match(words.en) ?? []).length ? 'de' : 'en';
}

/** The sentences of a document, block by block, each at its place. A row of a table is one sentence. */
export function sentencesOf({ text, blocks }: ParsedDocument): readonly Sentence[] {
  return blocks.flatMap(({ kind, start, end }) => {
    if (kind === 'row' || kind === 'heading') return [{ text: text.slice(start, end), start, end, kind }];
    return cuts(text.slice(start, end)).map(([from, to]) => trimmed(text, start + from, start + to, kind));
  });
}

function cuts(block: string): [number, number][] {
  const found: [number, number][] = [];
  let from = 0;
  for (const { 0: mark, index } of block.matchAll(/[.!?]["”“»)]?(?=\s+["„“(«]?[\p{Lu}\d§])/gu)) {
    const to = index + mark.length;
    if (mark.startsWith('.') && abbreviation.test(block.slice(from, to).slice(-12))) continue;
    found.push([from, to]);
    from = to;
  }
  if (block.slice(from).trim() !== '') found.push([from, block.length]);
  return found;
}

function trimmed(text: string, start: number, end: number, kind: Block['kind']): Sentence {
  const said = text.slice(start, end);
  const from = start + (said.length - said.trimStart().length);
  const to = end - (said.length - said.trimEnd().length);
  return { text: text.slice(from, to), start: from, end: to, kind };
}
