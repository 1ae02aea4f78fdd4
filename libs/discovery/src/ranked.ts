import { relatedTo } from './related-words.js';
import { sentencesOf, stemsOf } from './stems.js';
import { comparedLength, parametersOf } from './tool.js';
import type { OfferedTool } from './tool.js';

/**
 * How much a word counts by where it stands, and how far a field’s length evens that out (BM25F). A description says
 * first what a tool does: what comes later counts less, once, and in a long text hardly at all.
 */
const fields = {
  name: { weight: 3, evening: 0.4 },
  beginning: { weight: 1, evening: 0.6 },
  rest: { weight: 0.3, evening: 1 },
  parameters: { weight: 0.6, evening: 0.8 },
} as const;
type Field = keyof typeof fields;
const fieldNames = Object.keys(fields) as readonly Field[];

/** Words of a description that count as its beginning. */
const beginningWords = 40;

/** How soon another occurrence of a word counts for nothing (k1 of BM25). */
const saturation = 1.2;

/** How much a related word counts beside the word of the question, where a tool lacks that one. */
const relatedWeight = 0.3;

/** How much the sentence that suits a tool best counts beside the whole question. */
const sentenceWeight = 0.5;

interface Posting {
  readonly tool: number;
  /** Weighted occurrences, evened out by the length of their fields. */
  readonly frequency: number;
}

/** The stems of a tool’s texts. */
export type FieldStems = Readonly<Record<Field, readonly string[]>>;

/**
 * An index over the tools of a request, by which they are ranked for any query. Ranking takes time by the words of
 * the query, not by the tools’ texts.
 */
export class ToolIndex {
  private readonly postings = new Map<string, Posting[]>();
  private readonly size: number;

  /** `texts` are the tools’ stems where they are made already. */
  constructor(
    tools: readonly OfferedTool[],
    texts: readonly FieldStems[] = tools.map((tool) => fieldStems(tool, comparedLength(tools.length))),
  ) {
    this.size = tools.length;
    const averages = Object.fromEntries(
      fieldNames.map((field) => [field, average(texts.map((text) => text[field].length))]),
    ) as Record<Field, number>;
    texts.forEach((text, tool) => this.add(tool, text, averages));
  }

  private add(tool: number, text: FieldStems, averages: Readonly<Record<Field, number>>): void {
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
  }

  /**
   * The score of each tool, in the order of the tools; 0 where no word of the query occurs. Of several sentences the
   * one that suits a tool best counts beside the whole, so that each step of a task has its tools.
   */
  scores(query: string): Float64Array {
    const scores = this.scoresOf(stemsOf(query));
    const sentences = sentencesOf(query);
    if (sentences.length === 0) return scores;
    const best = highest(scores);
    const gains = new Float64Array(this.size);
    for (const sentence of sentences) {
      const own = this.scoresOf(sentence);
      const most = highest(own);
      if (most > 0) own.forEach((score, tool) => (gains[tool] = Math.max(gains[tool] ?? 0, score / most)));
    }
    return scores.map((score, tool) => score + sentenceWeight * best * (gains[tool] ?? 0));
  }

  /** The tool that suits each sentence best, of a question with several; each once, in the order of the sentences. */
  bestOfSentences(query: string): readonly number[] {
    const best = sentencesOf(query).flatMap((sentence) => {
      const scores = this.scoresOf(sentence);
      const most = highest(scores);
      return most > 0 ? [scores.indexOf(most)] : [];
    });
    return [...new Set(best)];
  }

  /** The scores for words that are stems already. */
  scoresOf(stems: Iterable<string>): Float64Array {
    const scores = new Float64Array(this.size);
    const wanted = new Set(stems);
    for (const stem of wanted)
      this.eachWithPoints(stem, wanted, (tool, points) => {
        scores[tool] = (scores[tool] ?? 0) + points;
      });
    return scores;
  }

  /** What each stem of the query adds to the score of each tool that holds it or a word that is related to it. */
  parts(query: string): ReadonlyMap<string, ReadonlyMap<number, number>> {
    const wanted = new Set(stemsOf(query));
    const parts = new Map<string, Map<number, number>>();
    for (const stem of wanted) {
      const own = new Map<number, number>();
      this.eachWithPoints(stem, wanted, (tool, points) => own.set(tool, points));
      if (own.size > 0) parts.set(stem, own);
    }
    return parts;
  }

  /** A tool that lacks the word has some points for a related one, where that does not count for itself. */
  private eachWithPoints(
    stem: string,
    wanted: ReadonlySet<string>,
    take: (tool: number, points: number) => void,
  ): void {
    const own = this.postings.get(stem) ?? [];
    const rarity = this.rarity(own.length);
    for (const { tool, frequency } of own) take(tool, pointsFor(rarity, frequency));
    const others = [...relatedTo(stem)].flatMap((other) => (wanted.has(other) ? [] : [this.postings.get(other) ?? []]));
    if (others.every((postings) => postings.length === 0)) return;
    const direct = new Uint8Array(this.size);
    for (const { tool } of own) direct[tool] = 1;
    const gains = new Float64Array(this.size);
    for (const postings of others) {
      const weight = relatedWeight * Math.min(rarity, this.rarity(postings.length));
      for (const { tool, frequency } of postings)
        if (direct[tool] === 0) gains[tool] = Math.max(gains[tool] ?? 0, pointsFor(weight, frequency));
    }
    gains.forEach((points, tool) => {
      if (points > 0) take(tool, points);
    });
  }

  private rarity(holders: number): number {
    return Math.log(1 + (this.size - holders + 0.5) / (holders + 0.5));
  }
}

function pointsFor(rarity: number, frequency: number): number {
  return (rarity * (saturation + 1) * frequency) / (frequency + saturation);
}

export function highest(scores: ArrayLike<number>): number {
  let most = 0;
  for (let at = 0; at < scores.length; at++) most = Math.max(most, scores[at] ?? 0);
  return most;
}

/** The words of a query that a tool holds, itself or by a related word, as stems. */
export function sharedStems(tool: OfferedTool, query: string): readonly string[] {
  const own = new Set(Object.values(fieldStems(tool, comparedLength(1))).flat());
  const holds = (stem: string): boolean => own.has(stem) || [...relatedTo(stem)].some((other) => own.has(other));
  return [...new Set(stemsOf(query))].filter(holds);
}

/** The stems of a tool’s texts, of so many characters of each. */
export function fieldStems(tool: OfferedTool, length: number): FieldStems {
  const parameters = parametersOf(tool).map(({ name, description }) => `${name} ${description}`);
  const description = stemsOf(tool.description.slice(0, length));
  return {
    name: stemsOf(tool.name),
    beginning: description.slice(0, beginningWords),
    rest: [...new Set(description.slice(beginningWords))],
    parameters: stemsOf(parameters.join(' ').slice(0, length)),
  };
}

function average(lengths: readonly number[]): number {
  const sum = lengths.reduce((total, length) => total + length, 0);
  return Math.max(1, sum / Math.max(1, lengths.length));
}
