import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** How records go through this process, and whether it can do its work. */
export function logMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    hopDuration: histogram(
      'sluice_hop_duration_seconds',
      'Time from when the log took a record until what came of it was on the log.',
      seconds,
      'group',
      'topic',
    ),
    lag: gauge(
      'sluice_lag_records',
      'Records on the log that the group has not finished, by the instance that holds the partition; on Kafka, markers of transactions count.',
      'group',
      'topic',
      'partition',
    ),
    transactions: counter(
      'sluice_transactions_total',
      'Transactions on the log by how they ended: committed or failed.',
      'group',
      'outcome',
    ),
    transactionDuration: histogram(
      'sluice_transaction_duration_seconds',
      'Time a transaction on the log took.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      'group',
    ),
    rebalances: counter(
      'sluice_rebalances_total',
      'Times that the group gave out its partitions anew, the first time included; the embedded log has none.',
      'group',
    ),
    ready: gauge(
      'sluice_ready',
      'Whether a part of the process can do its work: 1 or 0, looked at every 5 s.',
      'check',
    ),
    clockSkew: gauge(
      'sluice_clock_skew_seconds',
      'How far the clock of this machine is at least ahead of the database’s, negative if behind; 0 as far as can be told, and on the embedded log.',
    ),
    configuration: gauge(
      'sluice_configuration_info',
      'Always 1: the version of the configuration in force.',
      'version',
    ),
  };
}
