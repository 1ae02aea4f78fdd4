/** The real parts that tests and developers get: a Kafka broker, a schema registry and a PostgreSQL server. */
export const kinds = ['kafka', 'registry', 'postgres'] as const;

export type Kind = (typeof kinds)[number];

/** Where a part answers. `brokers` are `host:port`; `url` is the registry's Confluent-compatible API. */
export type Address =
  | { readonly kind: 'kafka'; readonly brokers: string[] }
  | { readonly kind: 'registry'; readonly url: string }
  | { readonly kind: 'postgres'; readonly databaseUrl: string };

export type AddressOf<K extends Kind> = Extract<Address, { kind: K }>;

/** The environment variable that names a part which is there already, and that `npm run infra` prints. */
export const variables: Readonly<Record<Kind, string>> = {
  kafka: 'KAFKA_BROKERS',
  registry: 'SCHEMA_REGISTRY_URL',
  postgres: 'DATABASE_URL',
};

/** The part that the environment names, or null. It is taken as it is: who names it answers for it. */
export function given(kind: Kind, environment: NodeJS.ProcessEnv): Address | null {
  const value = environment[variables[kind]]?.trim() ?? '';
  if (value === '') return null;
  switch (kind) {
    case 'kafka':
      return { kind, brokers: value.split(',').map((broker) => broker.trim()) };
    case 'registry':
      return { kind, url: value };
    case 'postgres':
      return { kind, databaseUrl: value };
  }
}

/** The value of the part's variable; `given` reads it back. */
export function valueOf(address: Address): string {
  switch (address.kind) {
    case 'kafka':
      return address.brokers.join(',');
    case 'registry':
      return address.url;
    case 'postgres':
      return address.databaseUrl;
  }
}
