import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { Projection } from '@sluice/projection';
import type { RunCursor, RunFilter } from '@sluice/projection';
import type { Infrastructure } from '../kafka/infrastructure.js';
import { median, quantile, report } from '../measure.js';
import type { Figure } from '../measure.js';

const many = 1_000_000;
const tenants = 10;
const pages = 200;

/** Of runs, each a second after the one before; every tool and group is in a tenth of them, and one in a thousand. */
const columns = `'t' || (n % ${tenants}), 'run-' || n, 's-' || (n % 50000), 'user:' || (n % 97), NULL, 'What is the capital of Japan?',
  CASE n % 3 WHEN 0 THEN 'undefined' WHEN 1 THEN 'analysis' ELSE 'results' END, CASE n % 11 WHEN 0 THEN 'cancelled' ELSE 'answer' END, NULL,
  9007199254740991, 3, 1000, 0, 200, n * 1000, n * 1000 + 500, n * 1000 + 500`;
const label = (kind: string, name: string): string =>
  `'t' || (n % ${tenants}), '${kind}', ${name}, n * 1000, 'run-' || n`;
const fills = (series: string): readonly string[] => [
  `INSERT INTO runs (tenant, request_id, session_id, actor, subject, question, state, outcome, attempt, rank, iterations,
    input_tokens, cached_input_tokens, output_tokens, started_at, updated_at, ended_at) SELECT ${columns} FROM ${series}`,
  `INSERT INTO labels SELECT ${label('word', "CASE WHEN n % 1000 < 10 THEN 'japan' ELSE 'capital' END")} FROM ${series}`,
  `INSERT INTO labels SELECT ${label('word', "'what'")} FROM ${series}`,
  `INSERT INTO labels SELECT ${label('tool', "'tool-' || (n % 100)")} FROM ${series}`,
  `INSERT INTO labels SELECT ${label('group', "CASE WHEN n % 1000 < 10 THEN 'rare' ELSE 'common' END")} FROM ${series}`,
];

/** Pages of a list of a million runs, in a file and in PostgreSQL. */
export async function listPages(parts: Infrastructure): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'projection.sqlite');
  const schema = `bench_lists_${Date.now()}`;
  const pool = new pg.Pool({ connectionString: parts.databaseUrl, max: 1 });
  try {
    await (await Projection.open({ file })).close();
    const database = new DatabaseSync(file);
    const inSqlite = `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${many}) SELECT n FROM s) AS s`;
    for (const fill of fills(inSqlite)) database.exec(fill);
    database.close();
    const place = { url: parts.databaseUrl, schema, instance: 'bench' };
    await (await Projection.open(place)).close();
    await pool.query(`set search_path = ${schema}`);
    for (const fill of fills(`generate_series(1, ${many}) AS s(n)`)) await pool.query(fill);
    await pool.query('analyze runs, labels');
    report(`A page of 50 of a tenant’s 100,000 runs, of ${many} in all`, [
      ...(await measured('SQLite', await Projection.open({ file }))),
      ...(await measured('PostgreSQL', await Projection.open(place))),
    ]);
  } finally {
    await pool.query(`drop schema if exists ${schema} cascade`);
    await pool.end();
    await rm(folder, { recursive: true, force: true });
  }
}

const filters: Readonly<Record<string, RunFilter>> = {
  'without a filter': {},
  'by user': { user: 'user:7' },
  'by tool': { tool: 'tool-17' },
  'by a rare group': { group: 'rare' },
  'by tool and group': { tool: 'tool-7', group: 'rare' },
  'by words': { words: ['what', 'japan'] },
  'by outcome and state': { outcome: 'cancelled', state: 'analysis' },
};

async function measured(name: string, projection: Projection): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const all: number[] = [];
  for (const [what, filter] of Object.entries(filters)) {
    const times: number[] = [];
    let after: RunCursor | null = null;
    for (let n = 0; n < pages; n++) {
      const since = performance.now();
      const { runs: page, next } = await projection.page(
        { tenantId: 't7', actorId: '', subjectId: null },
        filter,
        after,
        50,
      );
      times.push(performance.now() - since);
      if (n === 0 && page.length === 0) throw new Error(`There are no runs ${what}.`);
      after = next;
    }
    all.push(...times);
    figures.push({ name: `${name}, ${what}, median`, value: median(times), unit: 'ms', goal: { atMost: 20 } });
  }
  await projection.close();
  return [...figures, { name: `${name}, all of these, p99`, value: quantile(all, 0.99), unit: 'ms' }];
}
