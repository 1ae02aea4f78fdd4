import { comparedLength } from './tool.js';
import type { OfferedTool } from './tool.js';
import { tokensOf } from './tokens.js';

/** What a score adds up from. */
const weights = {
  expanded: 1_000,
  alwaysKeep: 100,
  recentlyUsed: 100,
  nameInQuery: 50,
  queryToken: 10,
} as const;

/** What is known of a request beside its tools. */
export interface RelevanceRequest {
  /** The last message of the user. */
  readonly query: string;
  /** Names of tools whose output stands in the history. */
  readonly recentlyUsed: ReadonlySet<string>;
  /** Names that a search of the session found. */
  readonly expanded: ReadonlySet<string>;
  /** Names that the configuration always keeps. */
  readonly alwaysKeep: ReadonlySet<string>;
}

/** A part of a tool’s relevance: what it is for, and how much. */
interface Part {
  readonly why: string;
  readonly points: number;
}

/** The relevance of each tool, in the order of the tools. A repeated word of the query counts each time. */
export function relevanceOf(tools: readonly OfferedTool[], asked: RelevanceRequest): readonly number[] {
  const { holders, names } = wordsOf(tools);
  const query = asked.query.toLowerCase();
  const scores = tools.map(({ name }, at) => {
    const found = asked.expanded.has(name) ? weights.expanded : 0;
    const kept = asked.alwaysKeep.has(name) ? weights.alwaysKeep : 0;
    const used = asked.recentlyUsed.has(name) ? weights.recentlyUsed : 0;
    return found + kept + used + (name !== '' && query.includes(names[at] ?? name) ? weights.nameInQuery : 0);
  });
  for (const word of tokensOf(query))
    for (const at of holders.get(word) ?? []) scores[at] = (scores[at] ?? 0) + weights.queryToken;
  return scores;
}

interface ListWords {
  /** Which tools hold a word, by their places in the list. */
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** Their names in lower case. */
  readonly names: readonly string[];
}

/** Words of lists that are the same as before; they go with their lists. */
const known = new WeakMap<readonly OfferedTool[], ListWords>();

function wordsOf(tools: readonly OfferedTool[]): ListWords {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const holders = new Map<string, number[]>();
  const length = comparedLength(tools.length);
  tools.forEach((tool, at) => {
    for (const word of ownWords(tool, length)) {
      const others = holders.get(word);
      if (others === undefined) holders.set(word, [at]);
      else others.push(at);
    }
  });
  const words = { holders, names: tools.map(({ name }) => name.toLowerCase()) };
  known.set(tools, words);
  return words;
}

function ownWords({ name, description }: OfferedTool, length: number): ReadonlySet<string> {
  return new Set(tokensOf(`${name} ${description.slice(0, length)}`));
}

/** What the relevance of each tool adds up from. */
export function relevanceParts(tools: readonly OfferedTool[], asked: RelevanceRequest): readonly (readonly Part[])[] {
  const query = asked.query.toLowerCase();
  const words = tokensOf(query);
  const length = comparedLength(tools.length);
  return tools.map((tool) => {
    const { name } = tool;
    const own = ownWords(tool, length);
    const parts: Part[] = [];
    if (asked.expanded.has(name)) parts.push({ why: 'found by a search', points: weights.expanded });
    if (asked.alwaysKeep.has(name)) parts.push({ why: 'always kept', points: weights.alwaysKeep });
    if (asked.recentlyUsed.has(name)) parts.push({ why: 'recently used', points: weights.recentlyUsed });
    if (name !== '' && query.includes(name.toLowerCase()))
      parts.push({ why: 'named in the question', points: weights.nameInQuery });
    for (const word of words) if (own.has(word)) parts.push({ why: word, points: weights.queryToken });
    return parts;
  });
}

export interface KeepCount {
  readonly minTools: number;
  readonly maxTools: number;
  readonly targetRatio: number;
}

/** How many of so many tools are kept: a share of them, no more than the most, no fewer than the fewest. */
export function keepCount(total: number, { minTools, maxTools, targetRatio }: KeepCount): number {
  return Math.max(Math.min(Math.trunc(total * targetRatio), maxTools), minTools);
}

/** Places by their scores. Most scores of a long list are 0, and stay in their order. */
function bestFirst(length: number, scores: readonly number[]): readonly number[] {
  const places: readonly number[] = Array.from({ length }, (_, index) => index);
  const byScore = (list: readonly number[]): readonly number[] =>
    list.toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other);
  if (scores.some((score) => score < 0)) return byScore(places);
  const hasScore = (index: number): boolean => (scores[index] ?? 0) > 0;
  return [...byScore(places.filter(hasScore)), ...places.filter((index) => !hasScore(index))];
}

/**
 * Which tools are kept: those that come first in any case, those with the highest scores, earlier ones first where
 * scores are equal, and beyond the count those that are kept by force. Indexes in the order of the tools.
 */
export function keepBest(
  tools: readonly OfferedTool[],
  scores: readonly number[],
  count: number,
  isForced: (tool: OfferedTool) => boolean,
  first: readonly number[] = [],
): readonly number[] {
  const kept = new Set(first.slice(0, count));
  for (const index of bestFirst(tools.length, scores)) {
    if (kept.size >= count) break;
    kept.add(index);
  }
  tools.forEach((tool, index) => {
    if (isForced(tool)) kept.add(index);
  });
  return [...kept].sort((one, other) => one - other);
}
