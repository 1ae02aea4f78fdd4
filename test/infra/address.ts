/**
 * The real parts that tests and developers share: a Kafka broker, a schema registry, a PostgreSQL server and a Neo4j
 * server.
 */
export const kinds = ['kafka', 'registry', 'postgres', 'neo4j'] as const;

export type SharedKind = (typeof kinds)[number];

/**
 * A Prometheus is never shared: what it scrapes is its test's own. Nor is a broker that asks who one is, and grants
 * nothing by itself.
 */
export type Kind = SharedKind | 'secured-kafka' | 'prometheus';

/**
 * Where a part answers. `brokers` are `host:port`; `url` is the registry's Confluent-compatible API, or that of
 * Prometheus, which scrapes what its file `targets` lists (JSON as for `file_sd_configs`) every second, under the
 * rules of ops/prometheus. `ca` is a file with whom to trust. `neo4jUrl` is an address of Bolt with user and password
 * in it.
 */
export type Address =
  | { readonly kind: 'kafka'; readonly brokers: string[] }
  | { readonly kind: 'secured-kafka'; readonly brokers: string[]; readonly ca: string }
  | { readonly kind: 'registry'; readonly url: string }
  | { readonly kind: 'postgres'; readonly databaseUrl: string }
  | { readonly kind: 'neo4j'; readonly neo4jUrl: string }
  | { readonly kind: 'prometheus'; readonly url: string; readonly targets: string };

export type AddressOf<K extends Kind> = Extract<Address, { kind: K }>;

/** The environment variable that names a part which is there already, and that `npm run infra` prints. */
export const variables: Readonly<Record<SharedKind, string>> = {
  kafka: 'KAFKA_BROKERS',
  registry: 'SCHEMA_REGISTRY_URL',
  postgres: 'DATABASE_URL',
  neo4j: 'NEO4J_URL',
};

/** The part that the environment names, or null. It is taken as it is: who names it answers for it. */
export function given(kind: SharedKind, environment: NodeJS.ProcessEnv): AddressOf<SharedKind> | null {
  const value = environment[variables[kind]]?.trim() ?? '';
  if (value === '') return null;
  switch (kind) {
    case 'kafka':
      return { kind, brokers: value.split(',').map((broker) => broker.trim()) };
    case 'registry':
      return { kind, url: value };
    case 'postgres':
      return { kind, databaseUrl: value };
    case 'neo4j':
      return { kind, neo4jUrl: value };
  }
}

/** The value of the part's variable; `given` reads it back. */
export function valueOf(address: AddressOf<SharedKind>): string {
  switch (address.kind) {
    case 'kafka':
      return address.brokers.join(',');
    case 'registry':
      return address.url;
    case 'postgres':
      return address.databaseUrl;
    case 'neo4j':
      return address.neo4jUrl;
  }
}
