export interface KnowledgeSettings {
  /** RDF files loaded into the in-process store at start, relative to the working directory. */
  readonly load: readonly string[];
  /** A SPARQL 1.1 endpoint used instead of the in-process store. */
  readonly endpoint: string | null;
  readonly updateEndpoint: string | null;
}

export interface DocumentSettings {
  /** Documents that every session may read, relative to the working directory. */
  readonly folder: string;
}

/** The graph of requirements. */
export interface GraphSettings {
  /** Where each tenant’s graph is, relative to the working directory of each executor; null for the data folder. */
  readonly folder: string | null;
  /** Files that each graph begins with. */
  readonly load: readonly string[];
  /** The server that holds the graphs instead of files; absent where none does. */
  readonly neo4j?: Neo4jSettings;
}

export interface Neo4jSettings {
  /** `neo4j://` or `bolt://`, with `+s` for TLS. */
  readonly url: string;
  readonly user: string;
  /** The variable with the password; never the password. */
  readonly passwordEnv: string;
  /** The database of each tenant; a tenant that is not here has no graph. */
  readonly databases: Readonly<Record<string, string>>;
  /**
   * The authority that signed the server’s certificate, relative to the working directory; null for those of the
   * system.
   */
  readonly caFile: string | null;
  readonly connectMs: number;
  readonly queryMs: number;
  /** Connections of one tenant’s graph in one process, at most. */
  readonly pool: number;
  /** Whether execute_cypher_query may change nodes and relationships. */
  readonly writeQueries: boolean;
}

export const webSearchProviders = ['tavily', 'searxng', 'brave'] as const;

export interface WebSearchSettings {
  readonly provider: (typeof webSearchProviders)[number];
  /** Null for the provider’s own address. */
  readonly url: string | null;
  /** The variable with its key; null for none. */
  readonly apiKeyEnv: string | null;
}

export interface WebSettings {
  /** Null where there is no search. */
  readonly search: WebSearchSettings | null;
  /** Hosts, with or without a port, that tools may fetch from though they are not on the public internet. */
  readonly privateHosts: readonly string[];
}
