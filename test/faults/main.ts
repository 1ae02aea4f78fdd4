import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments, usage, UsageError } from './arguments.ts';
import type { Arguments } from './arguments.ts';
import { diskFull } from './embedded/disk-full.ts';
import { embeddedCrashPoints } from './embedded/crash-points.ts';
import { embeddedKilled } from './embedded/killed.ts';
import { faultNames, planOf } from './plan.ts';
import type { Round } from './plan.ts';
import { onKafka } from './scenes.ts';

/**
 * `npm run test:faults`: breaks real parts in an order that the seed gives, and holds what is left to the promises of
 * docs/guarantees.md.
 */
const began = performance.now();
const minutes = (): string => `${((performance.now() - began) / 60_000).toFixed(1)} min`;
const say = (line: string): void => console.log(`${minutes().padStart(8)}  ${line}`);

async function once(seed: number, { long, only }: Arguments, folder: string): Promise<readonly string[]> {
  const plan = planOf(seed, long);
  const wanted = (scene: string): boolean => only === null || only === scene;
  const alone = (rounds: readonly Round[]): readonly Round[] =>
    rounds.filter(({ faults }) => faults.length === 1 && faults[0] === only);
  const isFault = faultNames.some((name) => name === only);
  const said: string[] = [];
  said.push(
    ...(await onKafka(1, isFault ? alone(plan.oneBroker) : wanted('one broker') ? plan.oneBroker : [], folder, say)),
  );
  said.push(...(await onKafka(3, wanted('three brokers') ? plan.threeBrokers : [], folder, say)));
  if (wanted('embedded')) {
    said.push(...(await embeddedKilled(plan.embedded.killed, join(folder, 'killed'), say)));
    said.push(...(await embeddedCrashPoints(plan.embedded.crashPoints, join(folder, 'crash-points'), say)));
    said.push(...(await diskFull(plan.embedded.diskFull, join(folder, 'full'), say)));
  }
  return said;
}

async function run(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  if (platform() !== 'linux')
    throw new Error(
      'The fault suite runs on Linux: it finds out from /proc which process is at a point where it is to be killed.',
    );
  const asked = readArguments(process.argv.slice(2), () => randomInt(1, 1_000_000_000));
  for (let seed = asked.seed; ; seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
    chmodSync(folder, 0o711);
    say(`seed ${seed}: \`npm run test:faults -- --seed ${seed}${asked.long ? ' --long' : ''}\` does the same again`);
    const said = await once(seed, asked, folder);
    if (said.length > 0) {
      for (const violation of said.slice(0, 50)) console.log(`  ✗ ${violation}`);
      say(`${said.length} broken promises with seed ${seed}. What the services said is in ${folder}.`);
      return 1;
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    say(`seed ${seed} held.`);
    if (performance.now() - began > asked.minutes * 60_000) return 0;
  }
}

run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof UsageError ? error.message : error instanceof Error ? error.stack : error);
    process.exit(1);
  },
);
