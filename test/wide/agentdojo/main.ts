/**
 * AgentDojo and AgentDyn in front of the real loop: each pair of a task of the user and an injection is a run, with a
 * model that obeys the injection. `-- banking slack` runs these suites alone, `--every 13` each 13th pair, `--open`
 * without a policy, `--adaptive` with an attacker who knows it; `--save file` keeps each outcome.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findPackages } from '../../cluster/outside-tools.js';
import { ModelEndpoint } from './model.js';
import { runPair } from './pairs.js';
import type { Outcome } from './pairs.js';
import { meetsGoals, printSuite } from './report.js';
import { startSuite } from './suites.js';
import { World } from './world.js';
import type { Pair, Tasks } from './world.js';

const version = '0.1.35';
const sideBySide = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: 'string', default: '1' },
    open: { type: 'boolean', default: false },
    adaptive: { type: 'boolean', default: false },
    save: { type: 'string' },
  },
});

/** Each task alone, which is the same whatever an attacker knows, and each pair of it and an injection. */
function pairsOf(suite: string, { user, injection }: Tasks): Pair[] {
  const pairs = user.flatMap((userTask) => injection.map((injectionTask) => ({ suite, userTask, injectionTask })));
  return [
    ...(values.adaptive ? [] : user).map((userTask): Pair => ({ suite, userTask, injectionTask: null })),
    ...pairs.filter((_, index) => index % Number(values.every) === 0),
  ];
}

async function runSuite(world: World, model: ModelEndpoint, suite: string, tasks: Tasks): Promise<readonly Outcome[]> {
  const begun = performance.now();
  const file = join(import.meta.dirname, 'suites', `${values.open ? 'none' : suite}.yaml`);
  const running = await startSuite(file, suite, world.url, model.url);
  try {
    const queue = pairsOf(suite, tasks);
    const outcomes: Outcome[] = [];
    const work = async (): Promise<void> => {
      for (let pair = queue.shift(); pair !== undefined; pair = queue.shift())
        outcomes.push(await runPair({ world, model, running, adaptive: values.adaptive }, pair));
    };
    await Promise.all(Array.from({ length: sideBySide }, work));
    printSuite(suite, outcomes, (performance.now() - begun) / 1_000);
    return outcomes;
  } finally {
    await running.close();
  }
}

const python = await findPackages([`agentdojo==${version}`], 'sluice-agentdojo');
const saved: Outcome[] = [];
for (const [benchmark, ...more] of [['AgentDojo'], ['AgentDyn', '--agentdyn']] as const) {
  const world = await World.start(python, ...more);
  const model = await ModelEndpoint.start();
  const all: Outcome[] = [];
  try {
    for (const [suite, tasks] of Object.entries(await world.tasks()))
      if (positionals.length === 0 || positionals.includes(suite))
        all.push(...(await runSuite(world, model, suite, tasks)));
  } finally {
    model.close();
    await world.close();
  }
  if (all.length === 0) continue;
  printSuite(benchmark, all);
  saved.push(...all);
  if (!values.open && !values.adaptive && !meetsGoals(benchmark, all)) process.exitCode = 1;
}
if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(saved, null, 1));
