import { setTimeout as sleep } from 'node:timers/promises';
import { roles } from '../parts/services.ts';
import type { Inflict } from './fault.ts';

/** Instances come and go while the others work; some leave in order, some do not. */
export const rebalances: Inflict = async ({ services, say }, random) => {
  for (let changes = random.between(5, 8); changes > 0; changes--) {
    const role = random.pick(roles);
    const there = services.running(role);
    if (there.length < 2 || (there.length < 4 && random.next() < 0.5)) {
      say(`  one more ${role}`);
      services.start(role);
    } else {
      const [one = 0] = random.shuffled(there);
      const inOrder = random.next() < 0.7;
      say(`  one ${role} less${inOrder ? '' : ', by kill -9'}`);
      if (inOrder) services.stop(one);
      else services.kill(one);
    }
    await sleep(random.between(300, 3_000));
  }
  for (const role of roles) for (const one of services.running(role).slice(2)) services.stop(one);
  services.complete();
};
