import { benchRanking } from './ranking.js';
import { benchTasks } from './tasks.js';

/** How well the strategies find tools and what a task costs with each. */
export async function benchDiscovery(): Promise<void> {
  await benchRanking();
  await benchTasks();
}
