import type { Address, SharedKind } from '../address.ts';
import { brokerSettings, postgresPassword, postgresSettings, postgresUser } from '../settings.ts';

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
export function images(kind: SharedKind, host: string, port: number): Image {
  switch (kind) {
    case 'kafka':
      return {
        image: 'apache/kafka:4.1.1',
        port: { container: 9092, host: port },
        environment: {
          ...Object.fromEntries(Object.entries(brokerSettings).map(([name, value]) => [variableOf(name), value])),
          KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
          // The broker calls itself as well, to verify transactions, and from inside it can't use the address that clients use.
          KAFKA_LISTENERS: 'PLAINTEXT://0.0.0.0:9092,INTERNAL://localhost:9094,CONTROLLER://localhost:9093',
          KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${host}:${port},INTERNAL://localhost:9094`,
          KAFKA_INTER_BROKER_LISTENER_NAME: 'INTERNAL',
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
          KAFKA_HEAP_OPTS: '-Xmx512m',
        },
        command: [],
        address: { kind, brokers: [`${host}:${port}`] },
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

/** How Kafka's images take a property from the environment. */
function variableOf(property: string): string {
  return `KAFKA_${property.toUpperCase().replaceAll('.', '_')}`;
}
