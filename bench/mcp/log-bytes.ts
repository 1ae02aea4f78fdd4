import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { topics } from '@sluice/contracts';
import { dataFiles } from '@sluice/host';
import { seedHistory } from '../history/seed.js';
import { report } from '../measure.js';
import type { Figure } from '../measure.js';
import { startServices } from './children.js';
import { call, connected } from './client.js';
import { configuration } from './configuration.js';

const calls = 50;
const goal = { atMost: 3 };
const runs = Number(process.env['BENCH_RUNS'] ?? 2_000);

/**
 * What a call leaves on the embedded log: with few tools and with many, in a fresh data folder and behind many runs.
 * `BENCH_RUNS` says how many these are; `BENCH_HISTORY` may name a folder that was seeded before, and is changed.
 */
export async function logBytes(upstream: string): Promise<void> {
  const seeded = process.env['BENCH_HISTORY'];
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const old = seeded ?? join(folder, 'seeded');
    if (seeded === undefined) await seedHistory({ folder: old, runs, days: 10, hasThread: true });
    const behind = seeded === undefined ? `behind ${runs} runs` : `behind the runs of ${seeded}`;
    const figures: Figure[] = [];
    for (const tools of [2, 2_000])
      for (const [given, where] of [
        [undefined, 'in a fresh folder'],
        [old, behind],
      ] as const)
        figures.push(...(await ofCalls(upstream, { tools, folder: given, name: `${tools} tools, ${where}` })));
    report('MCP: what a call leaves on the embedded log: keys, headers and values of its records', figures);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ofCalls(
  upstream: string,
  { tools, folder, name }: { readonly tools: number; readonly folder: string | undefined; readonly name: string },
): Promise<readonly Figure[]> {
  const services = await startServices(configuration(upstream, tools), {
    audit: true,
    ...(folder === undefined ? {} : { folder }),
  });
  const client = await connected(services.url);
  const log = new DatabaseSync(dataFiles({ dataFolder: services.folder }).log, { readOnly: true });
  try {
    const figures: Figure[] = [];
    for (const [tool, kind] of [
      ['upstream___ping', 'read-only'],
      ['upstream___act', 'with an effect'],
    ] as const) {
      await call(client, tool);
      const before = await settledAt(log);
      for (let n = 0; n < calls; n++) await call(client, tool);
      await settledAt(log);
      const { own, audit, records } = written(log, before);
      figures.push(
        { name: `${name}, ${kind}`, value: own / calls / 1_024, unit: 'KB', goal },
        { name: '    audit records besides', value: audit / calls / 1_024, unit: 'KB' },
        { name: '    records, without those of the audit', value: records / calls, unit: '' },
      );
    }
    return figures;
  } finally {
    log.close();
    await client.close();
    await services.close();
  }
}

/** The last record’s number, once no more come: the audit writes behind the answer. */
async function settledAt(log: DatabaseSync): Promise<number> {
  const last = (): number => Number(log.prepare('SELECT max(seq) AS seq FROM records').get()?.['seq'] ?? 0);
  for (let [seen, now] = [-1, last()]; ; [seen, now] = [now, last()]) {
    if (seen === now) return now;
    await delay(700);
  }
}

function written(log: DatabaseSync, after: number) {
  const rows = log
    .prepare(
      `SELECT name, count(*) AS records,
         sum(octet_length(key) + ifnull(octet_length(headers), 0) + octet_length(value)) AS bytes
       FROM records JOIN topics ON topics.id = records.topic WHERE seq > ? GROUP BY name`,
    )
    .all(after) as { readonly name: string; readonly records: number; readonly bytes: number }[];
  const sums = { own: 0, audit: 0, records: 0 };
  for (const { name, records, bytes } of rows)
    if (name === topics.audit) sums.audit += bytes;
    else [sums.own, sums.records] = [sums.own + bytes, sums.records + records];
  return sums;
}
