import { hops } from './hops.js';
import { startInfrastructure } from './infrastructure.js';
import type { Infrastructure } from './infrastructure.js';
import { iteration } from './iteration.js';
import { stuck } from './stuck.js';
import { throughput } from './throughput.js';

/** Everything on one broker in one run, each line with topics of its own. */
export async function benchKafka(): Promise<void> {
  const parts = await startInfrastructure();
  try {
    for (const measure of [throughput, hops, iteration, stuck] satisfies ((parts: Infrastructure) => Promise<void>)[])
      await measure(parts);
  } finally {
    await parts.stop();
  }
}
