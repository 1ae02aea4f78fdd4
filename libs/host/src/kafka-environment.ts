import type { SaslOptions } from '@sluice/bus';
import type { Variables } from './variables.js';

/** How to reach a Kafka cluster and its registry, and what topics look like that have to be made. */
export interface KafkaEnvironment {
  /** KAFKA_BROKERS: host:port, separated by commas. */
  readonly brokers: readonly string[];
  /** SLUICE_PREFIX, put before every topic and group name; default none. */
  readonly prefix: string;
  /** KAFKA_TLS (true), or any of KAFKA_TLS_CA, KAFKA_TLS_CERT, KAFKA_TLS_KEY: files. Null for plain text. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null;
  /**
   * KAFKA_SASL_MECHANISM and what it needs: KAFKA_SASL_USERNAME and _PASSWORD, or for oauthbearer
   * KAFKA_OAUTH_TOKEN_URL, _CLIENT_ID, _CLIENT_SECRET and, if wanted, _SCOPE.
   */
  readonly sasl: SaslOptions | null;
  /** SCHEMA_REGISTRY_URL, SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD. */
  readonly registry: { readonly url: string; readonly username?: string; readonly password?: string };
  /** SLUICE_PARTITIONS (default 6), SLUICE_REPLICATION (default 1). */
  readonly partitions: number;
  readonly replication: number;
}

const mechanisms = ['none', 'plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

/** Throws an Error whose sentence names the variable and what it should hold. */
export function readKafka(variables: Variables): KafkaEnvironment {
  const brokers = variables
    .required('KAFKA_BROKERS', 'the brokers, as host:port separated by commas')
    .split(',')
    .map((broker) => broker.trim());
  const odd = brokers.find((broker) => !/^[^\s:]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/.test(broker));
  if (odd !== undefined)
    throw new Error(`KAFKA_BROKERS holds "${odd}"; each broker is host:port, such as localhost:9092.`);
  const prefix = variables.text('SLUICE_PREFIX') ?? '';
  if (!/^[A-Za-z0-9._-]*$/.test(prefix))
    throw new Error(`SLUICE_PREFIX is "${prefix}"; it may hold letters, digits, ".", "_" and "-".`);
  return {
    brokers,
    prefix,
    tls: readTls(variables),
    sasl: readSasl(variables),
    registry: readRegistry(variables),
    partitions: variables.integer('SLUICE_PARTITIONS', 6, 1, 10_000),
    replication: variables.integer('SLUICE_REPLICATION', 1, 1, 16),
  };
}

function readTls(variables: Variables): KafkaEnvironment['tls'] {
  const ca = variables.file('KAFKA_TLS_CA');
  const cert = variables.file('KAFKA_TLS_CERT');
  const key = variables.file('KAFKA_TLS_KEY');
  const wanted = variables.oneOf('KAFKA_TLS', ['true', 'false'], ca || cert || key ? 'true' : 'false');
  if ((cert === undefined) !== (key === undefined))
    throw new Error('KAFKA_TLS_CERT and KAFKA_TLS_KEY belong together: set both or none.');
  if (wanted === 'false') return null;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function readSasl(variables: Variables): SaslOptions | null {
  const mechanism = variables.oneOf('KAFKA_SASL_MECHANISM', mechanisms, 'none');
  const secret = (name: string, what: string): string => variables.secret(name) ?? variables.required(name, what);
  switch (mechanism) {
    case 'none':
      return null;
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512':
      return {
        mechanism,
        username: variables.required('KAFKA_SASL_USERNAME', `the user for ${mechanism}`),
        password: secret(
          'KAFKA_SASL_PASSWORD',
          `the password for ${mechanism}, or KAFKA_SASL_PASSWORD_FILE to a file that holds it`,
        ),
      };
    case 'oauthbearer': {
      const scope = variables.text('KAFKA_OAUTH_SCOPE');
      return {
        mechanism,
        tokenUrl: variables.required('KAFKA_OAUTH_TOKEN_URL', 'where tokens are to be had'),
        clientId: variables.required('KAFKA_OAUTH_CLIENT_ID', 'the client’s id'),
        clientSecret: secret(
          'KAFKA_OAUTH_CLIENT_SECRET',
          'the client’s secret, or KAFKA_OAUTH_CLIENT_SECRET_FILE to a file that holds it',
        ),
        ...(scope === undefined ? {} : { scope }),
      };
    }
  }
}

function readRegistry(variables: Variables): KafkaEnvironment['registry'] {
  const url = variables.required('SCHEMA_REGISTRY_URL', 'the schema registry’s address, such as http://localhost:8081');
  if (!/^https?:\/\/[^/\s@]+(\/|$)/.test(url))
    throw new Error(
      'SCHEMA_REGISTRY_URL must begin with http:// or https:// and hold no user or password; those go into SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD.',
    );
  const username = variables.text('SCHEMA_REGISTRY_USERNAME');
  const password = variables.secret('SCHEMA_REGISTRY_PASSWORD');
  return { url, ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}
