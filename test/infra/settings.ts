import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What a broker of one node needs to serve groups and transactions, and what makes it quick to start, as Kafka's own
 * properties. Topics must be created before they are used, and the size limits are Kafka's: what passes here passes
 * on a cluster.
 */
export const brokerSettings = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
  'auto.create.topics.enable': 'false',
  'group.initial.rebalance.delay.ms': '0',
  // A broker that was killed may register again only when its last sign of life is this old; 9 s by default.
  'broker.session.timeout.ms': '6000',
  'broker.heartbeat.interval.ms': '1000',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
} as const;

/**
 * Who may log in to a secured broker with PLAIN, each with `passwordOf` the name: the first may do everything, the
 * others what they are granted.
 */
export const securedUsers = [
  'admin',
  ...[
    'filter',
    'agent',
    'executor',
    'audit',
    'gateway',
    'proxy',
    'mcp',
    'notifier',
    'auditor',
    'operator',
    'approver',
    'redriver',
    'upstream',
  ].map((role) => `sluice-${role}`),
] as const;

export const passwordOf = (user: string): string => `${user}-secret`;

/**
 * Certificate and key of a secured broker, which nobody else may use: the key is public. Whoever trusts the
 * certificate trusts the broker.
 */
export const tlsFile = (name: 'server.pem' | 'server.key.pem'): string => join(import.meta.dirname, 'tls', name);

/**
 * What makes a broker ask at its listener DOOR who one is, over TLS, and allow nobody anything that was not granted.
 * Who comes in elsewhere, inside its machine, is anonymous and may do everything. For OAUTHBEARER it takes tokens
 * that nobody signed.
 */
export function securedSettings(): Readonly<Record<string, string>> {
  // A property is one line.
  const pem = (name: 'server.pem' | 'server.key.pem'): string =>
    readFileSync(tlsFile(name), 'utf8').trim().replaceAll('\n', '\\n');
  const modules = 'org.apache.kafka.common.security';
  const users = securedUsers.map((user) => `user_${user}="${passwordOf(user)}"`).join(' ');
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS;User:admin',
    'listener.name.door.ssl.keystore.type': 'PEM',
    'listener.name.door.ssl.keystore.certificate.chain': pem('server.pem'),
    'listener.name.door.ssl.keystore.key': pem('server.key.pem'),
    'listener.name.door.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'listener.name.door.plain.sasl.jaas.config': `${modules}.plain.PlainLoginModule required ${users};`,
    'listener.name.door.scram-sha-256.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
    'listener.name.door.scram-sha-512.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
    'listener.name.door.oauthbearer.sasl.jaas.config': `${modules}.oauthbearer.OAuthBearerLoginModule required;`,
  };
}

/**
 * Settings of a PostgreSQL server whose data nobody wants back after a power failure; a killed server still recovers
 * all.
 */
export const postgresSettings = ['-c', 'fsync=off', '-c', 'max_connections=200'] as const;

/** The first user of a Neo4j server, whose name cannot be chosen. */
export const neo4jUser = 'neo4j';
export const neo4jPassword = 'sluice-secret';

export const postgresUser = 'sluice';
export const postgresPassword = 'sluice';
