import { setImmediate } from 'node:timers/promises';
import { longestPattern } from '@sluice/core';
import { OutOfTime, searchPattern } from '@sluice/patterns';
import { fieldStems, type FieldStems } from './postings.js';
import { ToolIndex } from './ranked.js';
import { relatedTo } from './related-words.js';
import { isUnspaced, stemsOf } from './stems.js';
import { comparedLength, comparedQuestion, parametersOf } from './tool.js';
import type { OfferedTool } from './tool.js';

/** Where a query was found in a tool, the best place first. */
const places = ['name', 'description', 'parameters'] as const;

/** What a search gave. */
interface Found {
  /** How the query was taken. */
  readonly by: 'regex' | 'keywords' | 'blank';
  /** Whether the query looks like a pattern and is none that is run. */
  readonly isNoPattern: boolean;
  /** Indexes of the tools that match, best first, no more than the cap. */
  readonly matches: readonly number[];
  /** Indexes of tools that are always kept and did not match. */
  readonly kept: readonly number[];
}

/** What a search may give. */
interface SearchBounds {
  readonly maxResults: number;
  readonly alwaysKeep: ReadonlySet<string>;
}

/**
 * Searches tools as `gateway_search_tools` does, without regard to case: several plain words as words, anything else
 * as a regular expression or, where it is none, takes too long or is a sentence that stands in no tool, by its words.
 * Others have their turn meanwhile.
 */
export async function searchTools(
  tools: readonly OfferedTool[],
  query: string,
  { maxResults, alwaysKeep }: SearchBounds,
): Promise<Found> {
  const { by, order, isNoPattern = false } = await ordered(tools, query);
  const matches = order.slice(0, maxResults);
  const matched = new Set(matches);
  const kept = tools.flatMap(({ name }, index) => (alwaysKeep.has(name) && !matched.has(index) ? [index] : []));
  return { by, isNoPattern, matches, kept };
}

type Ordered = Pick<Found, 'by'> & Partial<Pick<Found, 'isNoPattern'>> & { readonly order: readonly number[] };

/** Words with nothing between them that a pattern would have. */
const plainWords = /^[\p{L}\p{M}\p{N}_-]+(?:[\s,]+[\p{L}\p{M}\p{N}_-]+)+$/u;

async function ordered(tools: readonly OfferedTool[], query: string): Promise<Ordered> {
  const text = query.trim();
  if (text === '') return { by: 'blank', order: tools.map((_, index) => index) };
  if (isSeveralWords(text)) {
    const order = await byKeywords(tools, text);
    if (order.length > 0) return { by: 'keywords', order };
    const phrase = (await byPattern(tools, query)) ?? [];
    return { by: phrase.length > 0 ? 'regex' : 'keywords', order: phrase };
  }
  const order = await byPattern(tools, query);
  // One word or a pattern without a blank that is in no tool means what it says; a sentence means its words.
  if (order !== null && (order.length > 0 || !(/\s/.test(text) || isUnspaced(text)))) return { by: 'regex', order };
  const words = await byKeywords(tools, text);
  if (order === null) return { by: 'keywords', order: words, isNoPattern: true };
  return { by: words.length > 0 ? 'keywords' : 'regex', order: words };
}

/** Whether a query is several words, and no phrase of words that say nothing. */
function isSeveralWords(query: string): boolean {
  return query.length <= longestPattern && plainWords.test(query) && wordsOf(query).size > 0;
}

/** Null where the query is no regular expression, or takes longer for these tools than it may. */
async function byPattern(tools: readonly OfferedTool[], query: string): Promise<readonly number[] | null> {
  const pattern = searchPattern(query);
  if (pattern === null) return null;
  const found: Record<(typeof places)[number], number[]> = { name: [], description: [], parameters: [] };
  const length = comparedLength(tools.length);
  try {
    for (const [index, tool] of tools.entries()) {
      const place = places.find((one) => textsAt(tool, one, length).some((text) => text !== '' && pattern.find(text)));
      if (place !== undefined) found[place].push(index);
      await pattern.pause();
    }
  } catch (error) {
    if (error instanceof OutOfTime) return null;
    throw error;
  }
  // Those that match by name, then by description, then by a parameter; each in the order of the tools.
  return places.flatMap((place) => found[place]);
}

/** Words of a query that are looked for: a tool can hold no more of them than fit into its name and description. */
const mostWords = 200;

function wordsOf(query: string): ReadonlySet<string> {
  return new Set(stemsOf(comparedQuestion(query)).slice(0, mostWords));
}

/** Words after which others have their turn. */
const uninterrupted = 15_000;

/**
 * Those that hold most of the words first, and among equals the one that the ranking by words puts first; words are
 * compared by their stems. Where no tool holds a word, those that hold a related one.
 */
async function byKeywords(tools: readonly OfferedTool[], query: string): Promise<readonly number[]> {
  const words = wordsOf(query);
  const counting = new Set([...words].flatMap((word) => [word, ...relatedTo(word)]));
  const length = comparedLength(tools.length);
  const texts: FieldStems[] = [];
  const hits: number[] = [];
  let read = 0;
  for (const tool of tools) {
    const text = fieldStems(tool, length);
    hits.push(new Set(Object.values(text).flatMap((stems) => stems.filter((stem) => words.has(stem)))).size);
    texts.push(onlyThese(text, counting));
    read += Object.values(text).reduce((sum, stems) => sum + stems.length, 0);
    if (read < uninterrupted) continue;
    read = 0;
    await setImmediate();
  }
  const scores = new ToolIndex(tools, texts).scoresOf(words);
  return tools
    .map((_, index) => index)
    .filter(hits.some((count) => count > 0) ? (index) => (hits[index] ?? 0) > 0 : (index) => (scores[index] ?? 0) > 0)
    .sort(
      (one, other) => (hits[other] ?? 0) - (hits[one] ?? 0) || (scores[other] ?? 0) - (scores[one] ?? 0) || one - other,
    );
}

/** The same texts with a blank for each other stem: their lengths count, and an index of them is made soon. */
function onlyThese(text: FieldStems, stems: ReadonlySet<string>): FieldStems {
  const only = (own: readonly string[]): readonly string[] => own.map((stem) => (stems.has(stem) ? stem : ''));
  return {
    name: only(text.name),
    beginning: only(text.beginning),
    rest: only(text.rest),
    parameters: only(text.parameters),
  };
}

function textsAt(tool: OfferedTool, place: (typeof places)[number], length: number): readonly string[] {
  switch (place) {
    case 'name':
      return [tool.name];
    case 'description':
      return [tool.description.slice(0, length)];
    case 'parameters':
      return parametersOf(tool).flatMap(({ name, description }) => [name, description.slice(0, length)]);
  }
}
