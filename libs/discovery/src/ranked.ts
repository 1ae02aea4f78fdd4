import { fieldStems, type FieldStems, type Postings, postingsOf, StemWriter } from './postings.js';
import { relatedTo } from './related-words.js';
import { sentencesOf, stemsOf } from './stems.js';
import { comparedLength } from './tool.js';
import type { OfferedTool } from './tool.js';

/** How soon another occurrence of a word counts for nothing (k1 of BM25). */
const saturation = 1.2;

/** How much a related word counts beside the word of the question, where a tool lacks that one. */
const relatedWeight = 0.3;

/** How much the sentence that suits a tool best counts beside the whole question. */
const sentenceWeight = 0.5;

/** What the name of a stem and its number take, about. */
const bytesOfStem = 64;

/**
 * An index over the tools of a request, by which they are ranked for any query. Ranking takes time by the words of
 * the query, not by the tools’ texts.
 */
export class ToolIndex {
  private readonly postings: Postings;
  private readonly size: number;

  /** `texts` are the tools’ stems where they are made already. */
  constructor(tools: readonly OfferedTool[], texts?: readonly FieldStems[]) {
    this.size = tools.length;
    const written = new StemWriter();
    if (texts === undefined) {
      const length = comparedLength(tools.length);
      for (const tool of tools) written.addTool(tool, length);
    } else for (const text of texts) written.addStems(text);
    this.postings = postingsOf(written);
  }

  /** Bytes that it takes, as far as they grow with the tools. */
  get bytes(): number {
    const { starts, tools, frequencies } = this.postings;
    const own = starts.reduce((sum, start, at) => (start > (starts[at - 1] ?? 0) ? sum + 1 : sum), 0);
    return own * bytesOfStem + starts.byteLength + tools.byteLength + frequencies.byteLength;
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
    const { stems, starts, tools, frequencies } = this.postings;
    const rangeOf = (one: string): readonly [number, number] => {
      const at = stems.get(one);
      // A stem that is newer than this index has no place in it.
      return at === undefined || at + 1 >= starts.length ? [0, 0] : [starts[at] ?? 0, starts[at + 1] ?? 0];
    };
    const [from, to] = rangeOf(stem);
    const rarity = this.rarity(to - from);
    for (let at = from; at < to; at++) take(tools[at] ?? 0, pointsFor(rarity, frequencies[at] ?? 0));
    const others: (readonly [number, number])[] = [];
    for (const other of relatedTo(stem)) {
      const range = rangeOf(other);
      if (range[1] > range[0] && !wanted.has(other)) others.push(range);
    }
    if (others.length === 0) return;
    const own = new Set(tools.subarray(from, to));
    const gains = new Map<number, number>();
    for (const [first, last] of others) {
      const weight = relatedWeight * Math.min(rarity, this.rarity(last - first));
      for (let at = first; at < last; at++) {
        const tool = tools[at] ?? 0;
        if (!own.has(tool)) gains.set(tool, Math.max(gains.get(tool) ?? 0, pointsFor(weight, frequencies[at] ?? 0)));
      }
    }
    for (const [tool, points] of gains) take(tool, points);
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
