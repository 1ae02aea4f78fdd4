import { openKafkaBus } from '@sluice/bus';
import type { KafkaBus } from '@sluice/bus';
import type { Environment } from './environment.js';
import type { KafkaEnvironment } from './kafka-environment.js';
import { sayTo } from './log.js';
import type { Log } from './log.js';
import { systemClock } from './runtime.js';

/** Progress is best effort and short-lived: kept for an hour. Configurations are kept for ever, since every decision names one. */
const progressKeptMs = 3_600_000;
const forEver = -1;

/** Connects to the cluster and its registry, creating topics that are absent. Waits for what is not there yet, and says so. */
export function openCluster(
  environment: Environment,
  kafka: KafkaEnvironment,
  log: Log,
  signal?: AbortSignal,
  waitsFor?: (what: string) => void,
): Promise<KafkaBus> {
  const { brokers, prefix, tls, sasl, registry, partitions, replication, retentionMs } = kafka;
  return openKafkaBus({
    brokers,
    prefix,
    clientId: 'sluice',
    ...(tls === null ? {} : { tls }),
    ...(sasl === null ? {} : { sasl }),
    registry: { ...registry, compatibility: 'FULL_TRANSITIVE' },
    topics: { partitions, replication, retentionMs: retentions(retentionMs) },
    instance: environment.instance,
    clock: systemClock,
    log: sayTo(log, waitsFor),
    ...(signal === undefined ? {} : { signal }),
  });
}

function retentions(milliseconds: number) {
  return {
    'agent.requests': milliseconds,
    'agent.toolsets': milliseconds,
    'agent.tool-calls': milliseconds,
    'agent.steps': milliseconds,
    'agent.responses': milliseconds,
    'agent.progress': progressKeptMs,
    'agent.approvals': milliseconds,
    'agent.audit': forEver,
    'agent.dead-letters': milliseconds,
    'agent.config': forEver,
  };
}
