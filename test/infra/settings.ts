/**
 * What a broker of one node needs to serve groups and transactions, and what makes it quick to start, as Kafka's own properties.
 * Topics must be created before they are used, and the size limits are Kafka's: what passes here passes on a cluster.
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

/** Settings of a PostgreSQL server whose data nobody wants back after a power failure; a killed server still recovers all. */
export const postgresSettings = ['-c', 'fsync=off', '-c', 'max_connections=200'] as const;

export const postgresUser = 'sluice';
export const postgresPassword = 'sluice';
