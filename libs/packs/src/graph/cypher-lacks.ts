import type { Token } from './cypher-tokens.js';

/**
 * What Cypher has and the embedded graph has not, by the mark or word at which reading ends, with what to write in
 * its place.
 */
const lacks: Readonly<Record<string, string>> = {
  '[': 'no element or part of a list by its index: use head(), last() or UNWIND',
  '{': 'no maps and no subqueries in braces: match a pattern, or use OPTIONAL MATCH and count()',
  '|': 'no list made from a list: use UNWIND, WITH and collect()',
  '=~': 'no regular expressions: use CONTAINS, STARTS WITH or ENDS WITH',
  '||': 'no ||: join texts with +',
  '^': 'no powers: multiply',
  UNION: 'no UNION: ask one query for each part',
};

/** Inside a function or a list: any(x IN list WHERE …), [x IN list WHERE …]. */
const inList = 'no condition within a list or a function: use UNWIND and WITH … WHERE';
const noCase = 'no CASE: filter with WHERE, or ask one query for each case';

/** What the embedded graph lacks, if that is why reading ends at this token. */
export function lackAt(tokens: readonly Token[], at: number, expected: string): string | null {
  const [now, before] = [tokens[at] as Token, tokens[at - 1]];
  const isCase = ({ kind, text }: Token): boolean => kind === 'word' && /^case$/i.test(text);
  if (before !== undefined && isCase(before) && now.kind !== 'mark' && now.kind !== 'end') return noCase;
  if (now.kind !== 'word' && now.kind !== 'mark') return null;
  const word = now.text.toUpperCase();
  if (word === 'WHERE' && /[\])]/.test(expected)) return inList;
  return (Object.hasOwn(lacks, word) ? lacks[word] : undefined) ?? null;
}
