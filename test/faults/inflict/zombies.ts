import { setTimeout as sleep } from 'node:timers/promises';
import { roles } from '../parts/services.ts';
import type { Inflict } from './fault.ts';

/**
 * Longer than the session timeout, so that others have taken over; and what the paused ones then may still want to
 * say, milliseconds.
 */
const [leastMs, mostMs, laterMs] = [7_500, 13_000, 3_000];

/** Instances stand still until the others have their partitions, and then go on as if nothing had been. */
export const zombies: Inflict = async ({ services, say }, random) => {
  // They are to stand still with work in their hands.
  await sleep(random.between(1_000, 2_000));
  const victims = random
    .shuffled(roles)
    .slice(0, 2)
    .map((role) => ({ role, processId: random.pick(services.running(role)) }));
  for (const { role, processId } of victims) {
    say(`  ${role} stands still`);
    services.pause(processId);
    await sleep(random.between(0, 1_500));
  }
  await sleep(random.between(leastMs, mostMs));
  for (const { processId } of victims) {
    services.resume(processId);
    await sleep(random.between(0, 1_000));
  }
  await sleep(laterMs);
};
