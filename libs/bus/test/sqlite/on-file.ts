import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteBus } from '@sluice/bus';
import type { SqliteBus, SqliteBusOptions } from '@sluice/bus';

let processId = 100_000;

/** Each bus plays a process of its own, which is dead as soon as the next one asks. */
export function aProcess(): SqliteBusOptions {
  const clock = { now: () => Date.now() };
  return { clock, instance: `test ${++processId}`, processId, isAlive: () => false };
}

export function openOn(file: string, options: Partial<SqliteBusOptions> = {}): Promise<SqliteBus> {
  return openSqliteBus({ file, ...aProcess(), ...options });
}

export function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** A folder of the test's own, gone afterwards. */
export async function inFolder(work: (file: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bus-'));
  try {
    await work(join(folder, 'log.db'), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A log of the test's own, closed and gone afterwards. */
export function onBus(
  work: (bus: SqliteBus, file: string) => Promise<void>,
  options: Partial<SqliteBusOptions> = {},
): Promise<void> {
  return inFolder(async (file) => {
    const bus = await openOn(file, options);
    try {
      await work(bus, file);
    } finally {
      await bus.close();
    }
  });
}
