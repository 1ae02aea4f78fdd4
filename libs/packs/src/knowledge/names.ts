import { chunks, sameText, select, valuesOf, valuesOfText } from './select.js';
import type { Reading } from './select.js';
import { isIri, iriText, localName } from './terms.js';
import type { Binding } from './triple-store.js';
import { labels, otherNames } from './vocabulary.js';

const naming: readonly string[] = [...labels, ...otherNames];
const isNamed = `${valuesOf('by', naming)} ?thing ?by ?name . FILTER(isIRI(?thing) && isLiteral(?name))`;
const isNoRelation = 'FILTER NOT EXISTS { ?anything ?thing ?whatever }';

/**
 * The things of this name: by IRI, else by main name, else by another name; each first as written, then in any case.
 * Several if the name is not one thing's alone. Relations are not things here.
 */
export async function thingsNamed(reading: Reading, name: string): Promise<readonly string[]> {
  if (isIri(name)) {
    const known = await select(reading, `SELECT ?p WHERE { ${iriText(name)} ?p ?o } LIMIT 1`);
    if (known.length > 0) return [name];
  }
  for (const match of [valuesOfText('name', name), sameText('name', name)]) {
    const found = await select(
      reading,
      `SELECT DISTINCT ?thing ?by WHERE { ${match} ${isNamed} ${isNoRelation} } LIMIT 100`,
    );
    const best = bestOf(found);
    if (best.length > 0) return best;
  }
  return [];
}

function bestOf(found: readonly Binding[]): string[] {
  const byMain = found.filter(({ by }) => (labels as readonly string[]).includes(by?.value ?? ''));
  const chosen = byMain.length > 0 ? byMain : found;
  return [...new Set(chosen.flatMap(({ thing }) => thing?.value ?? []))].sort();
}

/** All names of each thing, the best first: in no language or English before others, main names before other names. */
export async function namesOf(
  reading: Reading,
  things: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found: Binding[] = [];
  for (const some of chunks([...new Set(things)], 100)) {
    found.push(...(await select(reading, `SELECT ?thing ?by ?name WHERE { ${valuesOf('thing', some)} ${isNamed} }`)));
  }
  const ranked = found
    .flatMap(({ thing, by, name }) =>
      thing && by && name ? [{ thing: thing.value, name: name.value, rank: rankOf(by.value, name) }] : [],
    )
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const byThing = Map.groupBy(ranked, ({ thing }) => thing);
  return new Map([...byThing].map(([thing, all]) => [thing, [...new Set(all.map(({ name }) => name))]]));
}

function rankOf(by: string, name: NonNullable<Binding[string]>): number {
  const language = name.type === 'literal' ? (name['xml:lang'] ?? '') : '';
  const foreign = language === '' || /^en\b/i.test(language) ? 0 : naming.length;
  return naming.indexOf(by) + foreign;
}

/** What to call a thing: its best name, else what its IRI says. */
export function nameOf(thing: string, names: ReadonlyMap<string, readonly string[]>): string {
  return names.get(thing)?.[0] ?? localName(thing);
}

/** Names that look like this one, the nearest first, at most five: suggestions for a misspelt one. */
export async function nearNames(reading: Reading, name: string): Promise<readonly string[]> {
  const lower = name.toLowerCase();
  const start = lower.slice(0, 2);
  const filter = `FILTER(STRSTARTS(LCASE(STR(?name)), "${start.replace(/[^\p{L}\p{N}]/gu, '')}"))`;
  const found = await select(
    reading,
    `SELECT DISTINCT ?name WHERE { ${isNamed} ${isNoRelation} ${filter} } LIMIT 2000`,
  );
  const allowed = Math.max(2, Math.floor(name.length / 3));
  return found
    .flatMap(({ name: near }) => near?.value ?? [])
    .map((near) => ({
      near,
      distance: near.toLowerCase().startsWith(lower) ? 0 : editDistance(lower, near.toLowerCase()),
    }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance || (a.near < b.near ? -1 : 1))
    .slice(0, 5)
    .map(({ near }) => near);
}

/** Levenshtein's distance: how many letters differ. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let at = 1; at <= to.length; at++) {
      const change = (previous[at - 1] ?? 0) + (from[row - 1] === to[at - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
