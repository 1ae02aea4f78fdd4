import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../measure.js';
import { measureFolder } from './measure-folder.js';
import { seedHistory } from './seed.js';

const few = 1_000;
const many = Number(process.env['BENCH_RUNS'] ?? 100_000);

/**
 * The embedded log with few runs and with many, side by side. `BENCH_HISTORY` may name a folder that was seeded
 * before; it is changed.
 */
export async function benchHistory(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const given = process.env['BENCH_HISTORY'];
    const fresh = join(folder, 'fresh');
    await seedHistory({ folder: fresh, runs: few, days: 10, hasThread: true });
    const seeded = given ?? join(folder, 'seeded');
    if (given === undefined) {
      const { seconds } = await seedHistory({ folder: seeded, runs: many, days: 10, hasThread: true });
      console.log(`\n${many} runs were seeded in ${seconds.toFixed(0)} s (goal ≤ 180 s for 100000)`);
    }
    const [one, other] = [await measureFolder(fresh), await measureFolder(seeded)];
    console.log(`\nThe embedded log with ${few} runs of ten days, and with ${given ?? many}`);
    console.log(`  ${''.padEnd(68)} ${'few'.padStart(9)} ${'many'.padStart(9)} ${'ratio'.padStart(7)}`);
    for (const [at, figure] of one.entries()) console.log(line(figure, other[at] as Figure));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function line({ name, value, unit }: Figure, other: Figure): string {
  const short = (number: number): string => (number >= 100 ? number.toFixed(0) : number.toPrecision(3));
  const ratio = (other.value / value).toFixed(2);
  return `  ${`${name}, ${unit}`.padEnd(68)} ${short(value).padStart(9)} ${short(other.value).padStart(9)} ${ratio.padStart(7)}`;
}
