import { setTimeout as sleep } from 'node:timers/promises';
import { roles } from '../parts/services.ts';
import type { Inflict } from './fault.ts';

/** kill -9 of any service at any time. */
export const randomKills: Inflict = async ({ services, say }, random) => {
  for (let kills = random.between(4, 7); kills > 0; kills--) {
    await sleep(random.between(200, 2_500));
    const role = random.pick(roles);
    const [victim] = random.shuffled(services.running(role));
    if (victim === undefined) continue;
    say(`  kill -9 of ${role}`);
    services.kill(victim);
    if (random.between(0, 2) > 0) services.complete();
  }
  services.complete();
};
