import { RE2JS } from 're2js';
import { comparedLength, comparedQuestion, parametersOf } from './tool.js';
import type { OfferedTool } from './tool.js';
import { tokensOf } from './tokens.js';

/** Characters of a pattern; a longer one counts as no regular expression. */
export const longestPattern = 512;

/** Where a query was found in a tool, the best place first. */
const places = ['name', 'description', 'parameters'] as const;

/** What a search gave. */
export interface Found {
  /** How the query was taken. */
  readonly by: 'regex' | 'keywords' | 'blank';
  /** Indexes of the tools that match, best first, no more than the cap. */
  readonly matches: readonly number[];
  /** Indexes of tools that are always kept and did not match. */
  readonly kept: readonly number[];
}

/**
 * Searches tools as `gateway_search_tools` does: by the query as a regular expression without regard to case or, where it is none, by its
 * words. The time it takes grows with the texts’ length alone, whatever the pattern.
 */
export function searchTools(
  tools: readonly OfferedTool[],
  query: string,
  { maxResults, alwaysKeep }: { readonly maxResults: number; readonly alwaysKeep: ReadonlySet<string> },
): Found {
  const { by, order } = ordered(tools, query);
  const matches = order.slice(0, maxResults);
  const matched = new Set(matches);
  const kept = tools.flatMap(({ name }, index) => (alwaysKeep.has(name) && !matched.has(index) ? [index] : []));
  return { by, matches, kept };
}

function ordered(
  tools: readonly OfferedTool[],
  query: string,
): Pick<Found, 'by'> & { readonly order: readonly number[] } {
  if (query.trim() === '') return { by: 'blank', order: tools.map((_, index) => index) };
  const pattern = compiled(query);
  if (pattern !== null) return { by: 'regex', order: byPlace(tools, (text) => pattern.matcher(text).find()) };
  return { by: 'keywords', order: byKeywords(tools, query) };
}

function compiled(query: string): RE2JS | null {
  if (query.length > longestPattern) return null;
  try {
    return RE2JS.compile(query, RE2JS.CASE_INSENSITIVE);
  } catch {
    return null;
  }
}

/** Those that match by name, then by description, then by a parameter; each in the order of the tools. */
function byPlace(tools: readonly OfferedTool[], matches: (text: string) => boolean): readonly number[] {
  const found: Record<(typeof places)[number], number[]> = { name: [], description: [], parameters: [] };
  const length = comparedLength(tools.length);
  tools.forEach((tool, index) => {
    const place = places.find((one) => textsAt(tool, one, length).some((text) => text !== '' && matches(text)));
    if (place !== undefined) found[place].push(index);
  });
  return places.flatMap((place) => found[place]);
}

function byKeywords(tools: readonly OfferedTool[], query: string): readonly number[] {
  const words = new Set(tokensOf(comparedQuestion(query)));
  const length = comparedLength(tools.length);
  const hits = tools.map((tool) => {
    const own = new Set(places.flatMap((place) => textsAt(tool, place, length)).flatMap(tokensOf));
    return [...words].filter((word) => own.has(word)).length;
  });
  return tools
    .map((_, index) => index)
    .filter((index) => (hits[index] ?? 0) > 0)
    .sort((one, other) => (hits[other] ?? 0) - (hits[one] ?? 0) || one - other);
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
