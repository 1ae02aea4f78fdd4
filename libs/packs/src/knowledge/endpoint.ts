import { ToolUserError } from '@sluice/core';
import { knowledgeOver } from './knowledge.js';
import type { ReadQuery } from './read-query.js';
import { parseResults } from './results-json.js';
import type { ChangeOutcome, KnowledgeStore } from '@sluice/tools';
import { cellOf, iriText, termText } from './terms.js';
import type { Term, Triple } from './terms.js';
import type { QueryResult, TripleChange, TripleStore } from './triple-store.js';
import { readQuery } from './read-query.js';
import { postSparql } from './sparql-protocol.js';
import { relationPrefix } from './vocabulary.js';

interface SparqlEndpointSettings {
  /** Where queries go. */
  readonly endpoint: string;
  /** Where updates go; null: the graph can only be read. */
  readonly updateEndpoint: string | null;
}

/**
 * A knowledge graph behind a SPARQL 1.1 endpoint (protocol, query results JSON, update). A change is one update
 * request, which does nothing if its key is known: the key is kept in the named graph `urn:sluice:changes`, beside
 * the counts. What a query may take is for the endpoint to bound; here its answer is bounded to 8 MB and its time by
 * the signal.
 */
export function openSparqlEndpoint(settings: SparqlEndpointSettings): KnowledgeStore {
  return knowledgeOver(new EndpointStore(settings));
}

const changes = '<urn:sluice:changes>';
const addedBy = iriText(`${relationPrefix}added`);
const removedBy = iriText(`${relationPrefix}removed`);

class EndpointStore implements TripleStore {
  constructor(private readonly settings: SparqlEndpointSettings) {}

  async refresh(): Promise<void> {
    // The endpoint itself is what all share.
  }

  async run(query: ReadQuery, signal: AbortSignal): Promise<QueryResult> {
    const triples = query.form === 'construct' || query.form === 'describe';
    const accept = triples ? 'application/n-triples' : 'application/sparql-results+json';
    const text = await postSparql(this.settings.endpoint, { kind: 'query', sparql: query.text, accept }, signal);
    return triples ? { kind: 'triples', triples: await parseTriples(text) } : parseResults(text);
  }

  async done(key: string, signal: AbortSignal): Promise<ChangeOutcome | undefined> {
    const marker = markerOf(key);
    const query = `SELECT ?added ?removed WHERE { GRAPH ${changes} { ${marker} ${addedBy} ?added ; ${removedBy} ?removed } }`;
    const result = await this.run(readQuery(query), signal);
    const row = result.kind === 'rows' ? result.rows[0] : undefined;
    if (row?.['added'] === undefined || row['removed'] === undefined) return undefined;
    return { added: Number(cellOf(row['added'])), removed: Number(cellOf(row['removed'])), alreadyDone: true };
  }

  async apply(change: TripleChange, signal: AbortSignal): Promise<ChangeOutcome> {
    const { updateEndpoint } = this.settings;
    if (updateEndpoint === null) {
      throw new ToolUserError(
        'This knowledge graph can only be read. To change it, knowledge.update_endpoint has to be configured.',
      );
    }
    const before = await this.done(change.key, signal);
    if (before !== undefined) return before;
    const added = change.add.length - (await this.present(change.add, signal));
    const removed = await this.present(change.remove, signal);
    await postSparql(
      updateEndpoint,
      { kind: 'update', sparql: updateText(change, added, removed), accept: '*/*' },
      signal,
    );
    return { added, removed, alreadyDone: false };
  }

  async close(): Promise<void> {
    // Nothing is held: each request has its own connection from fetch's pool.
  }

  /** How many of these triples are there. */
  private async present(triples: readonly Triple[], signal: AbortSignal): Promise<number> {
    if (triples.length === 0) return 0;
    const rows = triples.map(
      ({ subject, predicate, object }) => `(${termText(subject)} ${termText(predicate)} ${termText(object)})`,
    );
    const query = `SELECT DISTINCT ?s ?p ?o WHERE { VALUES (?s ?p ?o) { ${rows.join(' ')} } ?s ?p ?o }`;
    const result = await this.run({ form: 'select', text: query, bounded: query, maxResults: triples.length }, signal);
    return result.kind === 'rows' ? result.rows.length : 0;
  }
}

/** One request, atomic as far as the endpoint's requests are: nothing happens if the key's marker is there. */
function updateText({ key, add, remove, names }: TripleChange, added: number, removed: number): string {
  const marker = markerOf(key);
  return [
    `DELETE { ${remove.map(tripleText).join(' ')} }`,
    `INSERT { ${[...add, ...names].map(tripleText).join(' ')} GRAPH ${changes} { ${marker} ${addedBy} ${added} ; ${removedBy} ${removed} } }`,
    `WHERE { FILTER NOT EXISTS { GRAPH ${changes} { ${marker} ?p ?o } } }`,
  ].join('\n');
}

function markerOf(key: string): string {
  return iriText(`urn:sluice:change:${encodeURIComponent(key)}`);
}

function tripleText({ subject, predicate, object }: Triple): string {
  return `${termText(subject)} ${termText(predicate)} ${termText(object)} .`;
}

async function parseTriples(text: string): Promise<Triple[]> {
  const { parse } = await import('oxigraph');
  return parse(text, { format: 'application/n-triples' }).map(({ subject, predicate, object }) => ({
    subject: termOf(subject),
    predicate: termOf(predicate),
    object: termOf(object),
  }));
}

function termOf(term: { readonly termType: string; readonly value: string }): Term {
  if (term.termType === 'NamedNode') return { type: 'uri', value: term.value };
  if (term.termType === 'BlankNode') return { type: 'bnode', value: term.value };
  const { language, datatype } = term as unknown as {
    readonly language: string;
    readonly datatype: { readonly value: string };
  };
  if (language !== '') return { type: 'literal', value: term.value, 'xml:lang': language };
  return { type: 'literal', value: term.value, datatype: datatype.value };
}
