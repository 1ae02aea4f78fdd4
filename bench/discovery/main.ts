import { benchProxy } from './proxy.js';
import { benchRanking } from './ranking.js';
import { benchTasks } from './tasks.js';

/** How well the strategies find tools, what a task costs with each, and what the proxy costs. */
export async function benchDiscovery(): Promise<void> {
  await benchRanking();
  await benchTasks();
  await benchProxy();
}
