import { calls } from './calls.js';
import { hops } from './hops.js';
import { startInfrastructure } from './infrastructure.js';
import type { Infrastructure } from './infrastructure.js';
import { iteration } from './iteration.js';
import { stuck } from './stuck.js';
import { throughput } from './throughput.js';

type Measure = (parts: Infrastructure) => Promise<void>;

/** The filter as a service, beside what it is compared with. */
export const benchThroughput = (): Promise<void> => onOneBroker(throughput);

/** All services in one process. */
export const benchKafka = (): Promise<void> => onOneBroker(hops, iteration, stuck, calls);

/** Calls of MCP clients, each service in a process of its own. */
export const benchMcpKafka = (): Promise<void> => onOneBroker(calls);

/** In one run, each line with topics of its own. */
async function onOneBroker(...measures: readonly Measure[]): Promise<void> {
  const parts = await startInfrastructure();
  try {
    for (const measure of measures) await measure(parts);
  } finally {
    await parts.stop();
  }
}
