import type { Clock, Documents, Ledger, Signatures } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import type { Configurations } from './configuration/configurations.js';
import type { RunLog, RunMetrics } from './reporting.js';

/** What a process gives to the functions that decide about runs; each takes the parts that it uses. */
export interface RunParts {
  readonly bus: Bus;
  readonly ledger: Ledger;
  /** What is kept between runs, in the ledger’s database. */
  readonly documents: Documents;
  readonly clock: Clock;
  readonly signatures: Signatures;
  readonly configurations: Configurations;
  readonly metrics: RunMetrics;
  readonly log: RunLog;
}
