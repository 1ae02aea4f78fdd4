import { beforeAll, describe } from '@jest/globals';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { busContract } from '../contract.js';
import { aProcess, optionsHere } from './on-broker.js';
import type { Process } from './on-broker.js';

/**
 * The contract of a log on Kafka, whose topics have `partitions` partitions each. One file a count, so that they run
 * side by side. A history takes seconds here: a few are tried, and many by `npm run test:wide -- histories`.
 */
export function contractWith(partitions: number, { histories = 25, historiesMs = 6_000 } = {}): void {
  describe(`with partitions: ${partitions}`, () => {
    beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

    busContract('Kafka', {
      histories,
      historiesMs,
      open: async () => {
        const options = await optionsHere({ topics: { partitions, replication: 1 } });
        const processes = [await aProcess(options)];
        const last = (): Process => processes.at(-1) as Process;
        return {
          get bus() {
            return last().bus;
          },
          reopen: async () => {
            await last().forgotten();
            processes.push(await aProcess(options));
            return last().bus;
          },
          appendRaw: (topic, key, value, headers) => last().bus.appendRaw(topic, key, value, headers),
          close: async () => {
            for (const { bus } of processes) await bus.close();
          },
        };
      },
    });
  });
}
