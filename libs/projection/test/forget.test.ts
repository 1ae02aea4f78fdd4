import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, jest } from '@jest/globals';
import { Projection } from '../src/index.js';

it('forgets a long history in portions, so that others write in between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-forget-'));
  const file = join(folder, 'projection.sqlite');
  const projection = await Projection.open({ file });
  const database = new DatabaseSync(file);
  database.exec(`
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)
    INSERT INTO runs (tenant, request_id, session_id, actor, subject, question, state, outcome, attempt, rank, iterations,
      input_tokens, cached_input_tokens, output_tokens, started_at, updated_at, ended_at) SELECT 't', 'r-' || n, 's', 'user:ann', NULL, 'Q', '', 'answered', NULL, 1, 1, 0, 0, 0, n, n, n FROM n;
    INSERT INTO steps (tenant, request_id, iteration, place, step) SELECT tenant, request_id, 1, 0, '{}' FROM runs;
  `);
  const count = (table: string): unknown =>
    database.prepare(`SELECT count(*) AS rows, min(request_id) AS first FROM ${table}`).get();
  const commits = jest.spyOn(DatabaseSync.prototype, 'exec');
  await projection.forget({ runs: 1_200 });
  const written = commits.mock.calls.filter(([text]) => text === 'COMMIT');
  commits.mockRestore();
  expect([count('runs'), count('steps')]).toEqual([
    { rows: 1, first: 'r-1200' },
    { rows: 1, first: 'r-1200' },
  ]);
  expect(written.length).toBeGreaterThanOrEqual(3);
  database.close();
  await projection.close();
  rmSync(folder, { recursive: true });
});
