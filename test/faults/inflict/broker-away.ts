import { setTimeout as sleep } from 'node:timers/promises';
import type { Inflict } from './fault.ts';

/** A broker ends, in order or not, and comes back. Of three, the other two go on meanwhile. */
export const brokerAway: Inflict = async ({ infrastructure: { brokers }, say }, random) => {
  for (const how of random.shuffled(['stop', 'kill', 'pause'] as const)) {
    const broker = random.pick(brokers);
    await sleep(random.between(500, 2_000));
    say(`  ${how} of broker ${brokers.indexOf(broker) + 1}`);
    await broker.instance.inflict(how);
    await sleep(random.between(1_000, 8_000));
    await broker.instance.inflict(how === 'pause' ? 'resume' : 'start');
  }
};
