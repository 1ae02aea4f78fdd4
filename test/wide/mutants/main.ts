import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Checkout } from './checkout.ts';
import type { Verdict } from './checkout.ts';
import { mutantsOf } from './mutate.ts';
import type { Mutant } from './mutate.ts';
import { NearbySuites } from './near.ts';

/**
 * `npm run test:wide -- mutants`: a seeded sample of single changes to the doors and the pipeline. Each runs the
 * nearby test files, at most six, in a copy of the sources. A change that all of them accept has survived: a test is
 * missing there, or the change means nothing.
 */
const root = join(import.meta.dirname, '../../..');
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1301' },
    count: { type: 'string', default: '100' },
    under: { type: 'string' },
    most: { type: 'string', default: '35' },
  },
});

/** The doors, and what a call goes through. */
const rooms = ['apps/{gateway,proxy,mcp}/src', 'libs/{proxy,mcp,wires,run}/src', 'libs/core/src/{tool,rules}'];

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sample(): readonly Mutant[] {
  const patterns = (values.under === undefined ? rooms : [values.under]).map((room) => `${room}/**/*.ts`);
  const found = globSync(patterns, { cwd: root }).sort();
  const all = found.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
  const chance = chances(Number(values.seed));
  const ranked = all.map((mutant) => ({ mutant, rank: chance() })).sort((a, b) => a.rank - b.rank);
  console.log(`${found.length} files, ${all.length} possible changes, seed ${values.seed}`);
  return ranked.slice(0, Number(values.count)).map(({ mutant }) => mutant);
}

const near = new NearbySuites(root);
const counts: Record<Verdict | 'untested', number> = { noticed: 0, survived: 0, hung: 0, untested: 0 };
const survivors: string[] = [];
const queue = [...sample()];
const total = queue.length;
const folder = mkdtempSync(join(tmpdir(), 'sluice-mutants-'));
const sound = new Map<string, Promise<boolean>>();

async function work(checkout: Checkout): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const { file, line, what } = mutant;
    const suites = near.of(file);
    const key = suites.join(' ');
    const passes = sound.get(key) ?? (suites.length === 0 ? Promise.resolve(false) : checkout.passes(suites));
    sound.set(key, passes);
    const verdict = (await passes) ? await checkout.try(mutant, suites) : 'untested';
    counts[verdict]++;
    const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (verdict === 'survived' || verdict === 'untested') survivors.push(`${verdict}  ${file}:${line}  ${what}`);
    console.log(`${String(done).padStart(4)}/${total}  ${verdict.padEnd(8)}  ${file}:${line}  ${what}`);
  }
}

try {
  const checkouts = [0, 1].map((n) => new Checkout(root, join(folder, String(n))));
  await Promise.all(checkouts.map(work));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\nNot noticed:\n${survivors.sort().join('\n')}\n`);
const unnoticed = counts.survived + counts.untested;
console.log(
  `${total} changes: ${counts.noticed} noticed, ${counts.hung} hung, ${counts.survived} survived, ${counts.untested} without a test that passes`,
);
if (unnoticed * 100 > Number(values.most) * total) {
  console.error(`More than ${values.most} % were not noticed.`);
  process.exitCode = 1;
}
