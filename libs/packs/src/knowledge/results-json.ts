import type { Binding, QueryResult } from './triple-store.js';

interface ResultsJson {
  readonly head?: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings?: readonly Binding[] };
}

/** Reads the SPARQL 1.1 Query Results JSON Format. Throws if the text is not that. */
export function parseResults(text: string): QueryResult {
  const parsed = JSON.parse(text) as ResultsJson | null;
  if (typeof parsed?.boolean === 'boolean') return { kind: 'boolean', value: parsed.boolean };
  const bindings = parsed?.results?.bindings;
  if (!Array.isArray(bindings)) throw new Error('The answer is JSON, but not SPARQL results.');
  return { kind: 'rows', columns: parsed?.head?.vars ?? [], rows: bindings as readonly Binding[] };
}
