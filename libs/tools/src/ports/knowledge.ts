/** A value of a cell: what JSON can carry without nesting. */
export type Cell = string | number | boolean;

/** One line of an answer: column name to value. A column that has nothing for this row is left out. */
export type Row = Readonly<Record<string, Cell>>;

/**
 * Rows in a stable order, and how many there are in all (`rows` may be fewer where a store is asked for many things).
 */
export interface Answer {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** Something said about something. Names are resolved by the store; see `KnowledgeStore.change`. */
export interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly object: Cell;
}

export interface ChangeRequest {
  readonly add: readonly Statement[];
  readonly remove: readonly Statement[];
}

/** What a change did: statements that were not there and now are, statements that were there and now are not. */
export interface ChangeOutcome {
  readonly added: number;
  readonly removed: number;
  /** The key was known, so nothing was changed; the counts are those of the first time. */
  readonly alreadyDone: boolean;
}

/**
 * A knowledge graph as the tools see it: the `knowledge` capability. Mistakes a caller can mend (an unknown name, a
 * query with a syntax error) are thrown as ToolUserError, a store out of reach as ToolUnavailableError if nothing has
 * happened yet; after an abort, the signal's reason.
 */
export interface KnowledgeStore {
  /**
   * What is known about the entity of this name (a label or another name of it, in any case, or its IRI). Without a
   * relation one row `{ relation, value }` for each fact; with one, a row for each related thing: its name and its
   * own literal facts.
   */
  find(entity: string, relation: string | undefined, signal: AbortSignal): Promise<Answer>;
  /**
   * Answers a SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE query; refuses everything that changes something or
   * reaches another server.
   */
  query(sparql: string, signal: AbortSignal): Promise<Answer>;
  /**
   * Removes, then adds. The same key a second time changes nothing. A subject is an absolute IRI, or a name: of an
   * entity that exists, or of a new one. A predicate likewise. A text object that is an IRI or the name of an
   * existing entity (or of a subject added in the same change) means that entity; any other text, and any text in
   * double quotes, is a literal.
   */
  change(request: ChangeRequest, key: string, signal: AbortSignal): Promise<ChangeOutcome>;
  close(): Promise<void>;
}
