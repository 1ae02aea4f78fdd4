import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Program } from '../../harness/program.js';
import { eventually } from '../../harness/eventually.js';
import { startTimeout } from '../../infra/client.ts';

/** So long that a due time comes in between, milliseconds. */
const lastsMs = 75_000;

let cluster: Cluster;
let filters: Program[];
beforeAll(async () => {
  cluster = await openCluster(`
tool: { get_current_time: { type: get_current_time } }
policy: { allowed_tools: [get_current_time] }
identity: { provider: api-keys }
schedule:
  minutely:
    cron: '* * * * *'
    catch_up: all
    overlap: queue
    question: 'What time is it?'
    groups: []
    principal: service:clock
    tenant: acme
`);
  await cluster.start('agent');
  filters = [await cluster.start('filter'), await cluster.start('filter')];
}, 2 * startTimeout);
afterAll(() => cluster?.close());

interface Listed {
  readonly request_id: string;
  readonly outcome: string;
}

const listed = async (): Promise<readonly Listed[]> =>
  (await cluster.command('runs', '--json', '--limit', '1000'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Listed);

it('kill -9 of one of two filters, again and again: each due time and each run that was asked for is one run', async () => {
  const asked: string[] = [];
  const begun = Date.now();
  for (let count = 0; Date.now() < begun + lastsMs; count++) {
    const answer = JSON.parse(await cluster.command('schedules', 'run', 'minutely', '--json')) as Listed;
    asked.push(answer.request_id);
    // At another moment each time: before a filter has seen it, between its claim and its request, or after that.
    await sleep((count % 6) * 250);
    const victim = filters.shift();
    victim?.process.kill('SIGKILL');
    await victim?.ended;
    filters.push(await cluster.start('filter'));
  }
  const due: string[] = [];
  const minute = 60_000;
  for (let at = Math.ceil(begun / minute) * minute; at <= Date.now(); at += minute)
    due.push(`schedule-minutely-${String(at)}`);
  const wanted = [...asked, ...due].sort();
  const all = await eventually(listed, (runs) =>
    wanted.every((id) => runs.some((run) => run.request_id === id && run.outcome === 'answer')),
  );
  const ids = all.map(({ request_id }) => request_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => asked.includes(id)).sort()).toEqual([...asked].sort());
  expect(due.length).toBeGreaterThan(0);
}, 400_000);
