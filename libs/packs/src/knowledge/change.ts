import { ToolUserError } from '@sluice/core';
import { thingsNamed } from './names.js';
import { sameText, select, valuesOfText } from './select.js';
import type { Reading } from './select.js';
import type { Cell, ChangeOutcome, ChangeRequest, Statement } from '@sluice/tools';
import { cellOf, iri, iriText, isIri, literal } from './terms.js';
import type { Term, Triple } from './terms.js';
import { entityPrefix, rdfsLabel, relationPrefix, slug } from './vocabulary.js';

/** Answers `KnowledgeStore.change`: names become IRIs here, once, before anything is changed. */
export async function change(reading: Reading, { add, remove }: ChangeRequest, key: string): Promise<ChangeOutcome> {
  const before = await reading.store.done(key, reading.signal);
  if (before !== undefined) return before;
  const names = new Naming(reading, add);
  const added: Triple[] = [];
  for (const { subject, predicate, object } of add) {
    added.push({
      subject: await names.subject(subject),
      predicate: await names.predicate(predicate),
      object: await names.object(object),
    });
  }
  const removed: Triple[] = [];
  for (const statement of remove) removed.push(...(await standing(reading, names, statement)));
  return reading.store.apply(
    { key, add: distinct(added), remove: distinct(removed), names: distinct(names.given) },
    reading.signal,
  );
}

/** Resolves the names of one change. */
class Naming {
  /** Labels for what is new. */
  readonly given: Triple[] = [];
  private readonly subjects: ReadonlySet<string>;
  private readonly resolved = new Map<string, Term>();

  constructor(
    private readonly reading: Reading,
    add: readonly Statement[],
  ) {
    this.subjects = new Set(add.map(({ subject }) => subject.trim().toLowerCase()));
  }

  /** The thing of this name: one that exists, or a new one. */
  subject(name: string): Promise<Term> {
    return this.once(
      `thing ${name.trim().toLowerCase()}`,
      async () => (await this.known(name)) ?? this.fresh(entityPrefix, name),
    );
  }

  predicate(name: string): Promise<Term> {
    return this.once(
      `relation ${name.trim().toLowerCase()}`,
      async () => (await this.knownPredicate(name)) ?? this.fresh(relationPrefix, name),
    );
  }

  async object(value: Cell): Promise<Term> {
    if (typeof value !== 'string') return literal(value);
    const quoted = /^"(.*)"$/s.exec(value);
    if (quoted !== null) return literal(quoted[1] ?? '');
    if (this.subjects.has(value.trim().toLowerCase())) return this.subject(value);
    return (await this.known(value)) ?? literal(value);
  }

  /** The thing of this name that exists; throws if several do. */
  async known(name: string): Promise<Term | undefined> {
    if (isIri(name)) return iri(name);
    const things = await thingsNamed(this.reading, name.trim());
    if (things.length > 1)
      throw new ToolUserError(
        `${things.length} things are called "${name}". Give the IRI of the one you mean: ${things.slice(0, 10).join(', ')}.`,
      );
    return things[0] === undefined ? undefined : iri(things[0]);
  }

  async knownPredicate(name: string): Promise<Term | undefined> {
    if (isIri(name)) return iri(name);
    const label = `<${rdfsLabel}>`;
    for (const match of [valuesOfText('name', name.trim()), sameText('name', name.trim())]) {
      const found = await select(
        this.reading,
        `SELECT DISTINCT ?p WHERE { ${match} ?p ${label} ?name . FILTER(isIRI(?p)) FILTER EXISTS { ?s ?p ?o } } LIMIT 10`,
      );
      const [first] = found.flatMap(({ p }) => p?.value ?? []).sort();
      if (first !== undefined) return iri(first);
    }
    return undefined;
  }

  private fresh(prefix: string, name: string): Term {
    const thing = iri(prefix + slug(name));
    this.given.push({ subject: thing, predicate: iri(rdfsLabel), object: literal(name.trim().replace(/\s+/g, ' ')) });
    return thing;
  }

  private async once(key: string, resolve: () => Promise<Term>): Promise<Term> {
    const term = this.resolved.get(key) ?? (await resolve());
    this.resolved.set(key, term);
    return term;
  }
}

/**
 * The triples a statement to be removed stands for: none if its names are unknown. Values are compared as values, not
 * as written.
 */
async function standing(reading: Reading, names: Naming, { subject, predicate, object }: Statement): Promise<Triple[]> {
  const thing = await names.known(subject);
  const relation = await names.knownPredicate(predicate);
  if (thing === undefined || relation === undefined) return [];
  const wanted = await names.object(object);
  const found = await select(
    reading,
    `SELECT ?o WHERE { ${iriText(thing.value)} ${iriText(relation.value)} ?o . FILTER(!isBlank(?o)) }`,
  );
  return found.flatMap(({ o }) =>
    o !== undefined && o.type === wanted.type && cellOf(o) === cellOf(wanted)
      ? [{ subject: thing, predicate: relation, object: o }]
      : [],
  );
}

function distinct(triples: readonly Triple[]): Triple[] {
  return [
    ...new Map(
      triples.map((triple) => [JSON.stringify([triple.subject, triple.predicate, triple.object]), triple]),
    ).values(),
  ];
}
