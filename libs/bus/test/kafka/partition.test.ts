import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Partition } from '../../src/kafka/consume/partition.js';
import type { PartitionOptions } from '../../src/kafka/consume/partition.js';
import { deferred } from '../contract/harness.js';

describe('a partition that is revoked while it is taken over', () => {
  it.each(['it succeeds', 'it fails'])(
    'is revoked once that takeover is over, however late: else it would set back what the next one has begun (%s)',
    async (how) => {
      const takeover = deferred();
      const done: string[] = [];
      const ownership = takeover.promise.then(() => {
        done.push('taken over');
        if (how === 'it fails') throw new Error('The coordinator has gone away.');
        return {} as never;
      });
      const partition = new Partition({
        acquire: () => ownership,
        failed: (error) => done.push(`failed: ${String(error)}`),
      } as Partial<PartitionOptions> as PartitionOptions);
      const closing = partition.close('It moved.').then(() => done.push('given up'));
      await turn();
      expect(done).toEqual([]);
      takeover.resolve();
      await closing;
      expect(done).toEqual(['taken over', 'given up']);
      expect(partition.owner).toBeUndefined();
    },
  );
});
