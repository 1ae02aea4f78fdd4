import { openKafkaBus } from '@sluice/bus';
import type { KafkaBus } from '@sluice/bus';
import type { Environment } from './environment.js';
import type { KafkaEnvironment } from './kafka-environment.js';
import { partLog } from './log.js';
import type { Log } from './log.js';
import { systemClock } from './runtime.js';

/**
 * Connects to the cluster and its registry, creating topics that are absent. Waits for what is not there yet, and
 * says so.
 */
export function openCluster(
  environment: Environment,
  kafka: KafkaEnvironment,
  log: Log,
  signal?: AbortSignal,
  waitsFor?: (what: string) => void,
): Promise<KafkaBus> {
  const { brokers, prefix, tls, sasl, registry, partitions, replication } = kafka;
  const kept = Object.entries(environment.retention);
  return openKafkaBus({
    brokers,
    prefix,
    clientId: 'sluice',
    ...(tls === null ? {} : { tls }),
    ...(sasl === null ? {} : { sasl }),
    registry: { ...registry, compatibility: 'FULL_TRANSITIVE' },
    topics: {
      partitions,
      replication,
      retentionMs: Object.fromEntries(kept.map(([topic, { ms }]) => [topic, ms])),
      retentionBytes: Object.fromEntries(kept.map(([topic, { bytes }]) => [topic, bytes])),
    },
    instance: environment.instance,
    clock: systemClock,
    log: partLog(log, waitsFor),
    ...(signal === undefined ? {} : { signal }),
  });
}
