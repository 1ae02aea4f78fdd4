import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { report } from '../measure.js';
import { startOn } from './program.js';
import { seedHistory } from './seed.js';

const waiting = 4_000;
/** Until sweeps have looked at what waits, more than once. */
const settleMs = 15_000;

/** Memory of all services where thousands of runs wait for approvals, beside the same where none does. */
export async function benchParked(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const resident: number[] = [];
    for (const many of [0, waiting]) {
      const data = join(folder, String(many));
      await seedHistory({ folder: data, runs: 100, days: 1, waiting: many, hasThread: true });
      const running = await startOn(data);
      await delay(settleMs);
      resident.push(await running.resident());
      await running.close();
    }
    const [none = NaN, all = NaN] = resident;
    report(`Memory of all services in one process while ${waiting} runs wait for approvals`, [
      { name: 'while none waits', value: none, unit: 'MB', goal: { atMost: 200 } },
      { name: 'while they wait', value: all, unit: 'MB' },
      { name: 'more than while none waits', value: all - none, unit: 'MB', goal: { atMost: 150 } },
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
