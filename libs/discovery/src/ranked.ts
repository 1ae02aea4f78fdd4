import { stemmer } from 'stemmer';
import { comparedLength, parametersOf } from './tool.js';
import type { OfferedTool } from './tool.js';

/** How much a word counts by where it stands, and how far a field’s length evens that out (BM25F). */
const fields = {
  name: { weight: 3, evening: 0.4 },
  description: { weight: 1, evening: 0.6 },
  parameters: { weight: 0.6, evening: 0.8 },
} as const;
type Field = keyof typeof fields;
const fieldNames = Object.keys(fields) as readonly Field[];

/** How soon another occurrence of a word counts for nothing (k1 of BM25). */
const saturation = 1.2;

/**
 * Words of a text, reduced to their stems; names are split at separators and at changes of case, and kept whole
 * besides.
 */
export function stemsOf(text: string): readonly string[] {
  const stems: string[] = [];
  for (const word of text.match(/[\p{L}\p{N}_.:-]+/gu) ?? []) stems.push(...stemsOfWord(word));
  return stems;
}

/** Stems of words that were met before: requests repeat their tools, and tools their words. */
const known = new Map<string, readonly string[]>();
const mostKnown = 20_000;
const longestKnown = 64;

function stemsOfWord(word: string): readonly string[] {
  const before = known.get(word);
  if (before !== undefined) return before;
  const parts = word
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');
  const own = parts.map((part) => stemmer(part));
  if (parts.length > 1) own.push(parts.join(''));
  const stems = own.filter((stem) => !commonStems.has(stem));
  if (known.size >= mostKnown) known.clear();
  if (word.length <= longestKnown) known.set(word, stems);
  return stems;
}

const commonStems: ReadonlySet<string> = new Set(
  (
    'a an and ar as at be by can do doe for from ha have how i if in into is it me my no not of on or our so ' +
    'that the thei them then there thi to us wa we what when where which who will with would you your pleas'
  ).split(' '),
);

interface Posting {
  readonly tool: number;
  /** Weighted occurrences, evened out by the length of their fields. */
  readonly frequency: number;
}

/**
 * An index over the tools of a request, by which they are ranked for any query. Ranking takes time by the words of
 * the query, not by the tools’ texts.
 */
export class ToolIndex {
  private readonly postings = new Map<string, Posting[]>();

  constructor(private readonly tools: readonly OfferedTool[]) {
    const texts = tools.map((tool) => wordsOf(tool, comparedLength(tools.length)));
    const averages = Object.fromEntries(
      fieldNames.map((field) => [field, average(texts.map((text) => text[field].length))]),
    ) as Record<Field, number>;
    texts.forEach((text, tool) => {
      const frequencies = new Map<string, number>();
      for (const field of fieldNames) {
        const { weight, evening } = fields[field];
        const evened = weight / (1 - evening + evening * (text[field].length / averages[field]));
        for (const stem of text[field]) frequencies.set(stem, (frequencies.get(stem) ?? 0) + evened);
      }
      for (const [stem, frequency] of frequencies) {
        const posting = { tool, frequency };
        const others = this.postings.get(stem);
        if (others === undefined) this.postings.set(stem, [posting]);
        else others.push(posting);
      }
    });
  }

  /** The score of each tool, in the order of the tools; 0 where no word of the query occurs. */
  scores(query: string): Float64Array {
    const scores = new Float64Array(this.tools.length);
    for (const stem of new Set(stemsOf(query))) {
      const postings = this.postings.get(stem);
      if (postings === undefined) continue;
      const rarity = this.rarity(postings.length);
      for (const { tool, frequency } of postings) scores[tool] = (scores[tool] ?? 0) + points(rarity, frequency);
    }
    return scores;
  }

  /** What each stem of the query adds to the score of each tool that holds it. */
  parts(query: string): ReadonlyMap<string, ReadonlyMap<number, number>> {
    const parts = new Map<string, ReadonlyMap<number, number>>();
    for (const stem of new Set(stemsOf(query))) {
      const postings = this.postings.get(stem);
      if (postings === undefined) continue;
      const rarity = this.rarity(postings.length);
      parts.set(stem, new Map(postings.map(({ tool, frequency }) => [tool, points(rarity, frequency)])));
    }
    return parts;
  }

  private rarity(holders: number): number {
    return Math.log(1 + (this.tools.length - holders + 0.5) / (holders + 0.5));
  }
}

function points(rarity: number, frequency: number): number {
  return (rarity * (saturation + 1) * frequency) / (frequency + saturation);
}

/** The words of a query that a tool holds, as stems. */
export function sharedStems(tool: OfferedTool, query: string): readonly string[] {
  const own = new Set(Object.values(wordsOf(tool)).flat());
  return [...new Set(stemsOf(query))].filter((stem) => own.has(stem));
}

function wordsOf(tool: OfferedTool, length = comparedLength(1)): Record<Field, readonly string[]> {
  const parameters = parametersOf(tool).map(({ name, description }) => `${name} ${description}`);
  return {
    name: stemsOf(tool.name),
    description: stemsOf(tool.description.slice(0, length)),
    parameters: stemsOf(parameters.join(' ').slice(0, length)),
  };
}

function average(lengths: readonly number[]): number {
  const sum = lengths.reduce((total, length) => total + length, 0);
  return Math.max(1, sum / Math.max(1, lengths.length));
}
