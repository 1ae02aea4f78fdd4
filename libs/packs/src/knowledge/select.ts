import { ownSelect } from './read-query.js';
import { iriText, literalText } from './terms.js';
import type { Binding, TripleStore } from './triple-store.js';

/** A store with the signal of the call that uses it. */
export interface Reading {
  readonly store: TripleStore;
  readonly signal: AbortSignal;
}

/** Results that one of the lookups' own queries may have. */
const maxLookupResults = 50_000;

/** Runs one of the lookups' own SELECT queries. */
export async function select({ store, signal }: Reading, sparql: string): Promise<readonly Binding[]> {
  const result = await store.run(ownSelect(sparql, maxLookupResults), signal);
  if (result.kind !== 'rows') throw new Error('A SELECT query gave no rows.');
  return result.rows;
}

/** `VALUES ?name { <a> <b> }` */
export function valuesOf(variable: string, iris: readonly string[]): string {
  return `VALUES ?${variable} { ${iris.map(iriText).join(' ')} }`;
}

/** `VALUES` with the text as it is and as English: what an index finds without reading every literal. */
export function valuesOfText(variable: string, text: string): string {
  return `VALUES ?${variable} { ${literalText(text)} ${literalText(text)}@en }`;
}

/** A filter for the text in any case. */
export function sameText(variable: string, text: string): string {
  return `FILTER(LCASE(STR(?${variable})) = LCASE(${literalText(text)}))`;
}

/** Splits, so that no query becomes too long for its store. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
