import type { Address, Kind } from '../address.ts';
import {
  brokerSettings,
  neo4jPassword,
  neo4jUser,
  postgresPassword,
  postgresSettings,
  postgresUser,
  securedSettings,
  tlsFile,
} from '../settings.ts';

export interface Image {
  readonly image: string;
  /** The port it listens on in the container, and that of the host which leads there. */
  readonly port: { readonly container: number; readonly host: number };
  readonly environment: Record<string, string>;
  /** Arguments instead of the image's own; none keeps those. */
  readonly command: string[];
  readonly address: Address;
}

/** The image of each part and how it is told what to be; `host` and `port` are where its clients will find it. */
export function images(kind: Exclude<Kind, 'prometheus'>, host: string, port: number): Image {
  switch (kind) {
    case 'neo4j':
      return {
        image: 'neo4j:5.26.0',
        port: { container: 7687, host: port },
        environment: {
          NEO4J_AUTH: `${neo4jUser}/${neo4jPassword}`,
          NEO4J_server_bolt_advertised__address: `${host}:${port}`,
          NEO4J_server_memory_heap_max__size: '512m',
          NEO4J_server_memory_pagecache_size: '64m',
          NEO4J_dbms_security_auth__max__failed__attempts: '0',
          NEO4J_dbms_usage__report_enabled: 'false',
        },
        command: [],
        address: { kind, neo4jUrl: `bolt://${neo4jUser}:${neo4jPassword}@${host}:${port}` },
      };
    case 'kafka':
      return { ...broker(host, port, 'PLAINTEXT', {}), address: { kind, brokers: [`${host}:${port}`] } };
    case 'secured-kafka':
      return {
        ...broker(host, port, 'SASL_SSL', securedSettings()),
        address: { kind, brokers: [`${host}:${port}`], ca: tlsFile('server.pem') },
      };
    case 'registry':
      return {
        image: 'apicurio/apicurio-registry:3.0.9',
        port: { container: 8080, host: port },
        environment: { JAVA_OPTS_APPEND: '-Xmx512m' },
        command: [],
        address: { kind, url: `http://${host}:${port}/apis/ccompat/v7` },
      };
    case 'postgres':
      return {
        image: 'postgres:17-bookworm',
        port: { container: 5432, host: port },
        environment: { POSTGRES_USER: postgresUser, POSTGRES_PASSWORD: postgresPassword, POSTGRES_DB: 'postgres' },
        command: ['postgres', ...postgresSettings],
        address: { kind, databaseUrl: `postgres://${postgresUser}:${postgresPassword}@${host}:${port}/postgres` },
      };
  }
}

function broker(host: string, port: number, protocol: string, more: Readonly<Record<string, string>>) {
  const settings = {
    ...brokerSettings,
    'controller.quorum.voters': '1@localhost:9093',
    // The broker calls itself as well, to verify transactions, and from inside it can't use the address that clients
    // use.
    listeners: 'DOOR://0.0.0.0:9092,INTERNAL://localhost:9094,CONTROLLER://localhost:9093',
    'advertised.listeners': `DOOR://${host}:${port},INTERNAL://localhost:9094`,
    'inter.broker.listener.name': 'INTERNAL',
    'listener.security.protocol.map': `DOOR:${protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    ...more,
  };
  const variables = Object.entries(settings).map(([name, value]) => [variableOf(name), value]);
  return {
    image: 'apache/kafka:4.1.1',
    port: { container: 9092, host: port },
    environment: { ...Object.fromEntries(variables), KAFKA_HEAP_OPTS: '-Xmx512m' } as Record<string, string>,
    command: [],
  };
}

/** How Kafka's images take a property from the environment. */
function variableOf(property: string): string {
  return `KAFKA_${property.toUpperCase().replaceAll('-', '___').replaceAll('.', '_')}`;
}
