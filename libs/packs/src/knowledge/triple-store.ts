import type { ReadQuery } from './read-query.js';
import type { ChangeOutcome } from '@sluice/tools';
import type { Term, Triple } from './terms.js';

export type Binding = Readonly<Record<string, Term>>;

export type QueryResult =
  | { readonly kind: 'rows'; readonly columns: readonly string[]; readonly rows: readonly Binding[] }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'triples'; readonly triples: readonly Triple[] };

/** A change in terms of triples, named for ever by its key. */
export interface TripleChange {
  readonly key: string;
  readonly add: readonly Triple[];
  readonly remove: readonly Triple[];
  /** Names of what is new: added with it, and not counted. */
  readonly names: readonly Triple[];
}

/**
 * Where triples are kept: in the process, or behind a SPARQL endpoint. A query with a mistake in it is a
 * ToolUserError, a store out of reach a ToolUnavailableError if nothing has happened yet; after an abort, the
 * signal's reason.
 */
export interface TripleStore {
  /**
   * Takes up what others have changed: asked once before each question and each change, of which all that is read is
   * as new as that.
   */
  refresh(): Promise<void>;
  run(query: ReadQuery, signal: AbortSignal): Promise<QueryResult>;
  /** What the change of this key did, if it was made before. */
  done(key: string, signal: AbortSignal): Promise<ChangeOutcome | undefined>;
  /** Removes, then adds, and remembers the key, all or nothing. */
  apply(change: TripleChange, signal: AbortSignal): Promise<ChangeOutcome>;
  close(): Promise<void>;
}
