import type { JsonValue } from '@sluice/core';

export type Properties = Readonly<Record<string, JsonValue>>;

export interface GraphNode {
  /** The store’s own. */
  readonly key: string;
  readonly labels: readonly string[];
  readonly properties: Properties;
}

export interface GraphRelationship {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly properties: Properties;
}

export interface QueryRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  /** There would have been more. */
  readonly truncated: boolean;
}

export interface GraphCounts {
  readonly labels: readonly {
    readonly label: string;
    readonly count: number;
    readonly properties: readonly string[];
  }[];
  readonly relationships: readonly {
    readonly type: string;
    readonly count: number;
    readonly between: readonly string[];
  }[];
}

/** `nodes` and `relationships` are what a graph may hold, so that a query is always of all of it. */
export const graphLimits = { rows: 500, queryMs: 1_000, nodes: 20_000, relationships: 50_000 } as const;

/**
 * A property graph. Nodes have a property `id`, unique among those of their label, and mostly `name`. `call` names a
 * call: the same one again changes nothing more. Throws ToolUserError for what the caller can mend, and
 * ToolUnavailableError if the graph cannot be used.
 */
export interface PropertyGraph {
  /**
   * A query that only reads; another is refused, except where the store allows it: then the same call again gives
   * what it gave before.
   */
  query(cypher: string, parameters: Properties, signal: AbortSignal, call: string): Promise<QueryRows>;
  /** Those of the label, or all. */
  nodes(label: string | null): Promise<readonly GraphNode[]>;
  relationships(): Promise<readonly GraphRelationship[]>;
  /** By its property `id`, else by its `name`. */
  find(label: string | null, id: string): Promise<GraphNode | undefined>;
  around(
    node: GraphNode,
    most: number,
  ): Promise<readonly { readonly relationship: GraphRelationship; readonly other: GraphNode }[]>;
  /** False if a node of the label has the id already, unless this very call made it. */
  add(label: string, properties: Properties & { readonly id: string }, call: string): Promise<boolean>;
  /** False if the relationship is there already. */
  relate(from: GraphNode, type: string, to: GraphNode, properties: Properties): Promise<boolean>;
  /** A number that no other call was given, and that no id of the label has behind the prefix; from 1. */
  nextNumber(label: string, prefix: string, call: string): Promise<number>;
  counts(): Promise<GraphCounts>;
  close(): Promise<void>;
}
