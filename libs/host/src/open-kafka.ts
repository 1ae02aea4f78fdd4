import { examineKafka, openKafkaBus } from '@sluice/bus';
import type { KafkaBus, KafkaBusOptions, KafkaExamination } from '@sluice/bus';
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
  return openKafkaBus({
    ...kafkaOptions(environment, kafka),
    log: partLog(log, waitsFor),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Looks at the cluster and its registry without a change to them. */
export function examineCluster(environment: Environment, kafka: KafkaEnvironment): Promise<KafkaExamination> {
  return examineKafka(kafkaOptions(environment, kafka));
}

function kafkaOptions(environment: Environment, kafka: KafkaEnvironment): KafkaBusOptions {
  const { brokers, prefix, tls, sasl, registry, partitions, replication } = kafka;
  const kept = Object.entries(environment.retention);
  return {
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
  };
}
