import { nameOf, namesOf } from './names.js';
import { chunks, select, valuesOf } from './select.js';
import type { Reading } from './select.js';
import type { Cell, Row } from '@sluice/tools';
import { cellOf, iriText } from './terms.js';
import type { Term } from './terms.js';
import type { Binding } from './triple-store.js';
import { labels, otherNames, rdfType } from './vocabulary.js';

/** Things described at most: more than any answer shows. */
const maxDescribed = 200;
const naming: readonly string[] = [...labels, ...otherNames];

/**
 * A row for each thing, by name: its own values under their relations' names (several joined by commas), and how many
 * links it has where a relation leads to other things. Of more than 200 things, those with the first 200 IRIs.
 */
export async function describe(reading: Reading, things: readonly string[]): Promise<readonly Row[]> {
  const shown = things.length > maxDescribed ? [...things].sort().slice(0, maxDescribed) : things;
  const values: Binding[] = [];
  const counts: Binding[] = [];
  for (const some of chunks(shown, 50)) {
    const these = valuesOf('thing', some);
    values.push(
      ...(await select(reading, `SELECT ?thing ?p ?o WHERE { ${these} ?thing ?p ?o . FILTER(isLiteral(?o)) }`)),
    );
    counts.push(
      ...(await select(
        reading,
        `SELECT ?thing ?p (COUNT(?o) AS ?n) WHERE { ${these} ?thing ?p ?o . FILTER(!isLiteral(?o) && ?p != ${iriText(rdfType)}) } GROUP BY ?thing ?p`,
      )),
    );
  }
  const predicates = [...values, ...counts].flatMap(({ p }) => p?.value ?? []);
  const names = await namesOf(reading, [...shown, ...predicates]);
  const valuesByThing = Map.groupBy(values, ({ thing }) => thing?.value);
  const countsByThing = Map.groupBy(counts, ({ thing }) => thing?.value);
  return shown
    .map((thing) => rowOf(nameOf(thing, names), valuesByThing.get(thing) ?? [], countsByThing.get(thing) ?? [], names))
    .sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1));
}

function rowOf(
  name: string,
  values: readonly Binding[],
  counts: readonly Binding[],
  names: ReadonlyMap<string, readonly string[]>,
): Row {
  const columns = new Map<string, Term[]>();
  for (const { p, o } of values) {
    if (p === undefined || o === undefined || naming.includes(p.value)) continue;
    const column = nameOf(p.value, names);
    columns.set(column, [...(columns.get(column) ?? []), o]);
  }
  const own = [...columns].map(([column, terms]): [string, Cell] => [column, joined(terms)]).sort(byColumn);
  const linked = counts
    .flatMap(({ p, n }): [string, Cell][] => (p && n ? [[nameOf(p.value, names), cellOf(n)]] : []))
    .sort(byColumn);
  const row: Record<string, Cell> = { name };
  // The first column of a name keeps it: the thing's own name, then its values, then counts of links.
  for (const [column, value] of [...own, ...linked]) if (!Object.hasOwn(row, column)) row[column] = value;
  return row;
}

/** One value as it is; several as one text. Of a text in several languages, the English one. */
function joined(terms: readonly Term[]): Cell {
  const plain = terms.filter((term) => term.type !== 'literal' || /^(en\b.*)?$/i.test(term['xml:lang'] ?? ''));
  const cells = (plain.length > 0 ? plain : terms).map(cellOf);
  return cells.length === 1 ? (cells[0] as Cell) : [...new Set(cells.map(String))].sort().join(', ');
}

function byColumn([a]: readonly [string, Cell], [b]: readonly [string, Cell]): number {
  return a < b ? -1 : 1;
}
