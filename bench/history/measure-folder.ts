import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyAudit } from '@sluice/audit';
import { openSqliteBus } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import { dataFiles, readLocalSecret } from '@sluice/host';
import { createVerifier, readKeySet } from '@sluice/identity';
import { startEmbedded } from '../../apps/sluice/src/system/embedded.js';
import { configuration, embeddedIn, promptModel, runs, turns } from '../loop.js';
import { median } from '../measure.js';
import type { Figure } from '../measure.js';
import { commandOn, startOn } from './program.js';
import type { Running } from './program.js';

const day = 24 * 3_600_000;
const pages = 30;

/** What the embedded log costs on this data folder, which has runs of ten days. It is changed by being measured. */
export async function measureFolder(folder: string): Promise<readonly Figure[]> {
  return [...(await starting(folder)), ...(await reading(folder)), ...(await going(folder)), ...(await letGo(folder))];
}

async function starting(folder: string): Promise<readonly Figure[]> {
  const ready: number[] = [];
  for (let round = 0; round < 3; round++) {
    const running = await startOn(folder);
    ready.push(running.readyMs);
    await running.close();
  }
  const running = await startOn(folder);
  try {
    await delay(5_000);
    const resident = await running.resident();
    const listed = await lists(folder, running);
    return [
      { name: 'ready after its start', value: median(ready) / 1_000, unit: 's', goal: { atMost: 1.5 } },
      { name: 'resident memory five seconds later', value: resident, unit: 'MB', goal: { atMost: 200 } },
      ...listed,
      { name: 'resident memory after these lists', value: await running.resident(), unit: 'MB', goal: { atMost: 200 } },
    ];
  } finally {
    await running.close();
  }
}

async function lists(folder: string, { url }: Running): Promise<readonly Figure[]> {
  const secret = readLocalSecret({ bus: 'sqlite', dataFolder: folder, secret: () => undefined }) ?? '';
  const headers = { authorization: `Bearer ${secret}` };
  const middle = Date.now() - 5 * day;
  const asked = {
    'runs?since=0': 'the first page',
    [`runs?until=${middle}`]: 'a page in the middle',
    'runs?since=0&tool=list': 'by tool',
    'runs?since=0&outcome=max_iterations': 'by outcome',
    'runs?since=0&group=tasks&tool=now': 'by group and tool',
    [await aRun(`${url}/v1/runs?until=${middle}&limit=1`, headers)]: 'one run of the middle',
    'sessions?limit=50': 'the sessions of a user',
    'sessions/session-2/steps': 'the steps of a session',
  };
  const figures: Figure[] = [];
  for (const [path, what] of Object.entries(asked)) {
    const times: number[] = [];
    for (let n = 0; n < pages; n++) {
      const begun = performance.now();
      const response = await fetch(`${url}/v1/${path}`, { headers });
      const text = await response.text();
      times.push(performance.now() - begun);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    }
    figures.push({
      name: `GET /v1/${path.replace(/\d{6,}|(?<=runs.)seed.*/, '…')}: ${what}`,
      value: median(times),
      unit: 'ms',
    });
  }
  return figures;
}

/** Where the run is that the list begins with. */
async function aRun(list: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { runs: listed } = (await (await fetch(list, { headers })).json()) as {
    readonly runs: readonly { readonly request_id: string; readonly session_id: string; readonly started_at: string }[];
  };
  const [first] = listed;
  if (first === undefined) throw new Error(`There is no run at ${list}.`);
  const { request_id, session_id, started_at } = first;
  return `runs/${request_id}?session_id=${session_id}&since=${encodeURIComponent(started_at)}`;
}

async function reading(folder: string): Promise<readonly Figure[]> {
  const tail = await commandOn(folder, 'tail', '--from', 'start', '--once', '--json', '--topic', 'agent.responses');
  const from = Date.now() - 8 * day;
  const file = join(folder, 'day.sluice');
  const exported = await commandOn(folder, 'export', '--from', String(from), '--to', String(from + day), file);
  await rm(file);
  const bus = await busOf(folder);
  try {
    const signatures = createVerifier(readKeySet(await readFile(join(folder, 'keys.json'), 'utf8'), 'keys.json'));
    const usage = process.cpuUsage();
    const report = await verifyAudit(bus, { signatures, sources: false });
    const { user, system } = process.cpuUsage(usage);
    return [
      { name: 'sluice tail --from start: its first record', value: tail.firstMs, unit: 'ms' },
      { name: 'and records a second, JSON', value: tail.lines / ((tail.ms - tail.firstMs) / 1_000), unit: '/s' },
      { name: 'sluice export of the third of ten days', value: exported.ms / 1_000, unit: 's' },
      {
        name: 'audit entries verified a second of the processor',
        value: sum(report.chains.map(({ entries }) => entries)) / ((user + system) / 1e6),
        unit: '/s',
      },
    ];
  } finally {
    await bus.close();
  }
}

/** The loop, with nothing beside it. */
async function going(folder: string): Promise<readonly Figure[]> {
  const configFile = join(folder, 'bench.yaml');
  await writeFile(configFile, configuration);
  const model = promptModel(turns);
  const models = { get: () => Promise.resolve(model) };
  const system = await startEmbedded({ environment: embeddedIn(folder), configFile, models });
  try {
    await runs(system, 20, 1);
    const alone = (await runs(system, 40, 1)).each.map((ms) => ms / turns);
    const together = await runs(system, 512, 256);
    const processor = (together.processor * 1_000) / (512 * turns);
    return [
      { name: 'an iteration, one run at a time, median', value: median(alone), unit: 'ms', goal: { atMost: 3 } },
      { name: 'iterations a second, 256 runs in flight', value: (512 * turns) / together.seconds, unit: '/s' },
      { name: 'processor time of each of these', value: processor, unit: 'ms' },
    ];
  } finally {
    await system.close();
    await rm(configFile);
  }
}

/** Retention: a look that finds nothing, and a day that goes. */
async function letGo(folder: string): Promise<readonly Figure[]> {
  const bus = await busOf(folder);
  try {
    const begun = performance.now();
    await bus.retain(topics.toolsets, { olderThan: 1 });
    const nothing = performance.now() - begun;
    let longest = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const since = performance.now();
    const gone = await bus.retain(topics.toolsets, { olderThan: Date.now() - 9 * day });
    const seconds = (performance.now() - since) / 1_000;
    clearInterval(watch);
    return [
      { name: 'retention with nothing to do, a topic', value: nothing, unit: 'ms' },
      { name: 'Toolsets that retention takes a second', value: gone / seconds, unit: '/s' },
      { name: 'the longest that it kept others waiting', value: longest, unit: 'ms' },
    ];
  } finally {
    await bus.close();
  }
}

function busOf(folder: string) {
  const here = { clock: { now: () => Date.now() }, instance: 'bench', processId: process.pid, isAlive: () => false };
  return openSqliteBus({ file: dataFiles({ dataFolder: folder }).log, ...here });
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
