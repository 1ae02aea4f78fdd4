import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it, jest } from '@jest/globals';
import { Projection } from '../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-session-steps-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('finds the steps of a session by the session, and not by what may be all runs', async () => {
  const file = join(folder, 'projection.sqlite');
  const projection = await Projection.open({ file });
  const prepare = jest.spyOn(DatabaseSync.prototype, 'prepare');
  await projection.steps({ tenantId: 't', actorId: 'user:ann', subjectId: null }, 's', 10);
  const [text = ''] = prepare.mock.calls.at(-1) ?? [];
  prepare.mockRestore();
  await projection.close();
  const database = new DatabaseSync(file);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all('t', 's', 'user:ann', null, 10);
  database.close();
  expect(JSON.stringify(plan)).toContain('runs_by_session');
  expect(JSON.stringify(plan)).toContain('SEARCH s USING PRIMARY KEY (tenant=? AND request_id=?)');
});
