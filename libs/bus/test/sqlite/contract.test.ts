import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteBus } from '@sluice/bus';
import { busContract } from '../contract.js';
import { openOn } from './on-file.js';

busContract('SQLite', {
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bus-'));
    const file = join(folder, 'log.db');
    const buses = [await openOn(file)];
    const last = (): SqliteBus => buses.at(-1) as SqliteBus;
    return {
      get bus() {
        return last();
      },
      reopen: async () => {
        buses.push(await openOn(file));
        return last();
      },
      appendRaw: async (topic, key, value, headers) => {
        await last().appendRaw(topic, key, value, headers);
      },
      close: async () => {
        for (const bus of buses) await bus.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});
