import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Random } from '../random.ts';
import { Embedded } from './embedded.ts';

const run = promisify(execFile);
const runs = 60;
/** No file of the limited process may grow beyond it, in blocks of 512 bytes. */
const limitBlocks = 1_600;

/** Nothing more can be written under the log, and later it can be again. Returns each broken promise. */
export async function diskFull(seed: number, folder: string, say: (line: string) => void): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const limited = await withLimit(seed, join(folder, 'limited'), say);
  const disk = join(folder, 'disk');
  mkdirSync(disk, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'sluice-faults', disk]);
  } catch (error) {
    say(`  embedded, disk full: left out, since no file system can be mounted here (${String(error).split('\n')[0]})`);
    return limited;
  }
  try {
    return [...limited, ...(await onFullDisk(seed, join(folder, 'full'), disk, say))];
  } finally {
    await run('umount', [disk]);
  }
}

/** A file system of its own that fills up and is emptied while the process lives. */
async function onFullDisk(
  seed: number,
  folder: string,
  disk: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const random = new Random(seed);
  say(`embedded, disk full (seed ${seed})`);
  const embedded = await Embedded.open(folder, join(disk, 'data'));
  try {
    embedded.start();
    await embedded.serves();
    const asking = embedded.ask(runs, 100, new Random(seed + 1));
    const said: string[] = [];
    for (let times = 1; times <= 3; times++) {
      await sleep(random.between(500, 1_500));
      fill(join(disk, 'ballast'));
      if (times === 1 && !(await embedded.says('the disk is full')))
        said.push('Nobody was told that the disk was full.');
      await sleep(random.between(500, 3_000));
      said.push(...embedded.lookOn());
      rmSync(join(disk, 'ballast'));
    }
    await asking;
    said.push(...(await embedded.settle()));
    if (!embedded.runs) said.push('The process ended because its disk was full.');
    say(`  ${embedded.summary()}`);
    return said;
  } finally {
    await embedded.close();
  }
}

function fill(file: string): void {
  for (const size of [1_048_576, 4_096]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** The process may write no file beyond a size, as under a quota; then it is started again without that. */
async function withLimit(seed: number, folder: string, say: (line: string) => void): Promise<readonly string[]> {
  const random = new Random(seed);
  say(`embedded, files that may not grow (seed ${seed})`);
  const embedded = await Embedded.open(folder, join(folder, 'data'));
  try {
    embedded.start(`trap '' XFSZ; ulimit -f ${limitBlocks};`);
    await embedded.serves();
    const asking = embedded.ask(runs, 100, new Random(seed + 1));
    const said: string[] = [];
    if (!(await embedded.says('could not be written'))) said.push('Nobody was told that the files may not grow.');
    await sleep(random.between(500, 3_000));
    said.push(...embedded.lookOn());
    await embedded.end('SIGTERM');
    embedded.start();
    await asking;
    said.push(...(await embedded.settle()));
    say(`  ${embedded.summary()}`);
    return said;
  } finally {
    await embedded.close();
  }
}
