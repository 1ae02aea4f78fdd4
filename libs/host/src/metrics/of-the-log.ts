import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** How records go through this process, and whether it can do its work. */
export function logMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    hopDuration: histogram(
      'sluice_hop_duration_seconds',
      'Time from a record’s append to the commit of its outputs; of a step that the filter only checks, to the check.',
      seconds,
      'consumer_group',
      'topic',
    ),
    lag: gauge(
      'sluice_lag_records',
      'Records that the consumer group has not finished, by the instance that owns the partition; on Kafka, transaction markers count.',
      'consumer_group',
      'topic',
      'partition',
    ),
    groupLag: gauge(
      'sluice_group_lag_records',
      'Records that the consumer group has not finished, whether or not it has a consumer; exported by the audit.',
      'consumer_group',
      'topic',
    ),
    transactions: counter(
      'sluice_transactions_total',
      'Transactions on the log by how they ended: committed or failed.',
      'consumer_group',
      'outcome',
    ),
    transactionDuration: histogram(
      'sluice_transaction_duration_seconds',
      'Time a transaction on the log took.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      'consumer_group',
    ),
    rebalances: counter(
      'sluice_rebalances_total',
      'Rebalances of the consumer group, the first one included; the embedded log has none.',
      'consumer_group',
    ),
    ready: gauge(
      'sluice_ready',
      'Whether a part of the process can do its work: 1 or 0, looked at every 5 s.',
      'check',
    ),
    topicFindings: gauge(
      'sluice_topic_findings',
      'Always 1: a setting of a topic on Kafka that is not as Sluice needs it, and whether it endangers rights or data.',
      'topic',
      'setting',
      'endangers',
    ),
    clockSkew: gauge(
      'sluice_clock_skew_seconds',
      'Lower bound of this host’s clock offset from the database; negative if behind, 0 on the embedded log.',
    ),
    configurationRefused: counter(
      'sluice_configuration_refused_total',
      'Configurations that were refused, or wait for their parts, while the former one stayed in force, by source: file, or log (a record on agent.config).',
      'source',
    ),
    configurationPartsMissing: gauge(
      'sluice_configuration_parts_missing',
      'Parts that are not on agent.config, of a configuration that waits for them while the former one stays in force; 0 if none waits.',
    ),
    configuration: gauge(
      'sluice_configuration_info',
      'Always 1: the version of the configuration in force.',
      'version',
    ),
  };
}
