import { setTimeout as sleep } from 'node:timers/promises';
import type { Inflict } from './fault.ts';

/** The database ends, in order or not, or says nothing, and comes back. */
export const databaseAway: Inflict = async ({ infrastructure: { database }, say }, random) => {
  for (const how of random.shuffled(['stop', 'kill', 'pause'] as const)) {
    await sleep(random.between(500, 2_000));
    say(`  ${how} of the database`);
    await database.instance.inflict(how);
    await sleep(random.between(1_000, 8_000));
    await database.instance.inflict(how === 'pause' ? 'resume' : 'start');
  }
};
