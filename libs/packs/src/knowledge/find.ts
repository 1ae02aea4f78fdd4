import { ToolUserError } from '@sluice/core';
import { describe } from './describe.js';
import { nameOf, namesOf, nearNames, thingsNamed } from './names.js';
import { matchRelation } from './relations.js';
import { sameText, select, valuesOfText } from './select.js';
import type { Reading } from './select.js';
import type { Answer, Row } from '@sluice/tools';
import { cellOf, iriText, localName } from './terms.js';
import type { Term } from './terms.js';
import { rdfsLabel } from './vocabulary.js';

/** Something at the other end of a predicate. */
interface Link {
  readonly predicate: string;
  readonly thing: Term;
}

/** Answers `KnowledgeStore.find`. */
export async function find(reading: Reading, entity: string, relation: string | undefined): Promise<Answer> {
  const things = await thingsNamed(reading, entity);
  const [thing, ...more] = things;
  if (thing === undefined) return findByValue(reading, entity, relation);
  if (more.length > 0) {
    throw new ToolUserError(
      `${things.length} things are called "${entity}". Give the IRI of one as the entity: ${things.slice(0, 10).join(', ')}.`,
    );
  }
  return relation === undefined ? ownFacts(reading, thing) : related(reading, thing, entity, relation);
}

/** One row a fact: what the thing has, by name. */
async function ownFacts(reading: Reading, thing: string): Promise<Answer> {
  const links = await linksOf(reading, `${iriText(thing)} ?predicate ?thing`);
  const names = await namesOf(reading, [...predicatesOf(links), ...irisOf(links)]);
  const rows = links.map(({ predicate, thing: value }) => ({
    relation: predicate === rdfsLabel ? 'name' : nameOf(predicate, names),
    value: value.type === 'uri' ? nameOf(value.value, names) : cellOf(value),
  }));
  return answer(rows.sort((a, b) => compare(a.relation, b.relation) || compare(a.value, b.value)));
}

/** What the relation leads to; if nothing leads from here by that name, what leads here by it. */
async function related(reading: Reading, thing: string, entity: string, relation: string): Promise<Answer> {
  const forward = await linksOf(reading, `${iriText(thing)} ?predicate ?thing`);
  const chosen = await choose(reading, relation, forward);
  if (chosen.links.length > 0) return rowsOf(reading, chosen);

  const backward = await linksOf(reading, `?thing ?predicate ${iriText(thing)} . FILTER(isIRI(?thing))`);
  const reverse = await choose(reading, relation, backward);
  if (reverse.links.length > 0) return rowsOf(reading, reverse);

  const known = [...new Set([...chosen.known, ...reverse.known])].sort();
  throw new ToolUserError(`"${entity}" has no relation "${relation}". It has: ${known.join(', ') || 'none'}.`);
}

/** For a name that is no thing's but some things' value: a language that countries speak, a region they are in. */
async function findByValue(reading: Reading, value: string, relation: string | undefined): Promise<Answer> {
  for (const match of [valuesOfText('value', value), sameText('value', value)]) {
    const pattern = `${match} ?thing ?predicate ?value . FILTER(isIRI(?thing) && isLiteral(?value)) FILTER NOT EXISTS { ?any ?thing ?other }`;
    const links = await linksOf(reading, pattern);
    if (links.length === 0) continue;
    if (relation === undefined) return rowsOf(reading, { links, names: new Map() });
    const chosen = await choose(reading, relation, links);
    if (chosen.links.length > 0) return rowsOf(reading, chosen);
    throw new ToolUserError(`"${value}" is a value of: ${chosen.known.join(', ')}; it is no value of "${relation}".`);
  }
  const near = await nearNames(reading, value);
  const hint =
    near.length > 0
      ? ` Did you mean ${near.map((name) => `"${name}"`).join(', ')}?`
      : ' Look for it under another name.';
  throw new ToolUserError(`Nothing is called "${value}".${hint}`);
}

async function linksOf(reading: Reading, pattern: string): Promise<readonly Link[]> {
  const found = await select(reading, `SELECT DISTINCT ?predicate ?thing WHERE { ${pattern} }`);
  return found.flatMap(({ predicate, thing }) => (predicate && thing ? [{ predicate: predicate.value, thing }] : []));
}

interface Choice {
  readonly links: readonly Link[];
  readonly names: ReadonlyMap<string, readonly string[]>;
}

async function choose(
  reading: Reading,
  relation: string,
  links: readonly Link[],
): Promise<Choice & { readonly known: readonly string[] }> {
  const predicates = predicatesOf(links);
  const names = await namesOf(reading, predicates);
  const choices = new Map(
    predicates.map((predicate) => [predicate, [...(names.get(predicate) ?? []), localName(predicate)]]),
  );
  const meant = matchRelation(relation, choices);
  const known = [
    ...new Set(predicates.filter((predicate) => predicate !== rdfsLabel).map((predicate) => nameOf(predicate, names))),
  ].sort();
  return { links: links.filter(({ predicate }) => meant.includes(predicate)), names, known };
}

/** Related things with their facts; related values as they are, under the relation's name. */
async function rowsOf(reading: Reading, { links, names }: Choice): Promise<Answer> {
  const things = [...new Set(irisOf(links))];
  const described = await describe(reading, things);
  const values = links
    .filter(({ thing }) => thing.type !== 'uri')
    .map(({ predicate, thing }): Row => ({ [nameOf(predicate, names)]: cellOf(thing) }))
    .sort((a, b) => compare(Object.values(a)[0] ?? '', Object.values(b)[0] ?? ''));
  return { rows: [...described, ...values], count: things.length + values.length };
}

function predicatesOf(links: readonly Link[]): string[] {
  return [...new Set(links.map(({ predicate }) => predicate))];
}

function irisOf(links: readonly Link[]): string[] {
  return links.flatMap(({ thing }) => (thing.type === 'uri' ? [thing.value] : []));
}

function answer(rows: readonly Row[]): Answer {
  return { rows, count: rows.length };
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a), String(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
