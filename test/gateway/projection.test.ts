import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { follow, Projection } from '@sluice/projection';
import type { Costs, Viewer } from '@sluice/projection';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import { run as project } from '../../apps/sluice/src/commands/project.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { localHeaders } from '../harness/local-headers.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { infra, startTimeout } from '../infra/client.js';
import { freshDatabase } from '../infra/fresh.js';
import type { FreshDatabase } from '../infra/fresh.js';
import { prepared } from '../infra/prepared.js';
import { scansOn } from '../infra/postgres-plans.js';
import { askForAllPages } from './all-pages.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-projection-'));
const viewer: Viewer = { tenantId: 'local', actorId: 'user:local', subjectId: null };
const counts = (): Promise<boolean> => Promise.resolve(true);
const costs: Costs = () => Promise.resolve(() => 1_500);

/** A name with what databases differ in: longer than an index takes, and with what PostgreSQL keeps in no text. */
const hard = `\u0000${'ж'.repeat(1_500)}`;

function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${++count}`);
}

describe('the projection', () => {
  let system: TestSystem;
  let database: FreshDatabase;
  let messages: readonly Incoming[];
  const opened: Projection[] = [];

  beforeAll(async () => {
    database = await freshDatabase((await infra('postgres')).databaseUrl);
    const look = inOrder({ calls: [calls.query, calls.update] }, { answer: 'Found.' });
    const model = new ScriptedModel((request) => (request.question === 'Look' ? look(request) : { answer: 'done' }));
    system = await startSystem(workflowConfiguration({}), model);
    for (let n = 0; n < 6; n++) {
      const asked = { question: n % 2 === 0 ? 'Look' : `Hello \u0000 ${n}`, sessionId: `s${n % 3}` };
      await system.ask({ ...asked, requestId: `r${n}`, group: ['*', ...(n === 5 ? [hard] : [])] });
    }
    await system.bus.appendRaw('agent.steps', 'forged', Buffer.from('{'));
    await eventually(
      () => system.all(topics.audit),
      (found) => found.filter(({ record }) => record.kind === 'run_ended').length === 6,
    );
    await eventually(() => system.all(topics.deadLetters), ({ length }) => length === 1); // prettier-ignore
    messages = await system.all(...allTopics);
  }, startTimeout);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((projection) => projection.close()));
  });
  afterAll(async () => {
    await system?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  let files = 0;
  const open = async (place: 'file' | string): Promise<Projection> => {
    const inFile = { file: join(folder, `${files++}.sqlite`) };
    const projection = await Projection.open(
      place === 'file' ? inFile : { url: database.url, schema: place, instance: 'test' },
    );
    opened.push(projection);
    return projection;
  };
  /** All that lists can ask of it. */
  const seen = async (projection: Projection) => ({
    runs: await projection.runs(viewer, {}, null, 50),
    byTool: await projection.runs(viewer, { tool: 'knowledge-query', group: '*', outcome: 'answer' }, null, 50),
    byGroup: await projection.runs(viewer, { group: hard }, null, 50),
    page: await projection.runs(
      viewer,
      { tool: 'graph-update' },
      { startedAt: Number.MAX_SAFE_INTEGER, requestId: '' },
      2,
    ),
    bySession: await projection.runs(
      viewer,
      { session: 's1', since: 0, until: Date.now() * 2, state: 'undefined' },
      null,
      50,
    ),
    run: await projection.run(viewer, 'r3'),
    sessions: await projection.sessions(viewer, null, 50),
    steps: await projection.steps(viewer, 's0', 50),
    audit: await projection.audit(viewer, {}, null, 200),
    calls: await projection.audit(viewer, { kind: 'tool_call', tool: 'knowledge-query', outcome: 'ok' }, null, 200),
    ofRun: await projection.audit(viewer, { run: 'r2', user: 'user:local', session: 's2' }, null, 3),
    letters: await projection.letters({ code: 'undecodable', service: 'filter' }, null, 50),
    words: (await projection.page(viewer, { words: ['hello'], own: true }, null, 50)).runs.map(
      ({ requestId }) => requestId,
    ),
    used: await projection.usage('outcome', viewer.tenantId, { since: 0, until: Date.now() * 2 }, 50),
    times: await projection.callTimes(viewer.tenantId, { since: 0, until: Date.now() * 2 }),
    none: await projection.runs({ ...viewer, tenantId: 'other' }, {}, null, 50),
  });
  /** Which write changed a run last depends on how often they came. */
  const text = (value: unknown): string =>
    JSON.stringify(value)
      .replaceAll('\\u0000', '\ufffd')
      .replaceAll(/"changed":\d+/g, '');

  it('is the same in PostgreSQL as in a file, whatever the order of topics, and however often records come', async () => {
    const file = await open('file');
    await file.apply(messages, counts);
    const expected = await seen(file);
    expect(expected.runs.map(({ requestId }) => requestId)).toEqual(['r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
    expect(expected.byTool.map(({ requestId }) => requestId)).toEqual(['r4', 'r2', 'r0']);
    expect(expected.byGroup.map(({ requestId }) => requestId)).toEqual(['r5']);
    expect(expected.calls).toHaveLength(3);
    expect([expected.letters.length, expected.none.length]).toEqual([1, 0]);
    expect(expected.words).toEqual(['r5', 'r3', 'r1']);
    expect(expected.used).toMatchObject([{ name: 'answer', count: 6, failures: 0, unpriced: 6 }]);
    const called = new Map<string, number>();
    for (const { tool, calls: n } of expected.times) called.set(tool, (called.get(tool) ?? 0) + n);
    expect(Object.fromEntries(called)).toEqual({ 'knowledge-query': 3, 'graph-update': 3 });

    const backwards = [...Map.groupBy(messages, ({ topic, partition }) => `${topic}/${partition}`).values()].reverse();
    for (const place of ['file', 'backwards']) {
      const other = await open(place);
      for (const part of backwards) await other.apply(part, counts);
      await other.apply(messages, counts);
      expect(text(await seen(other))).toBe(text(expected));
    }
    const postgres = await open('"schema-with.name');
    await postgres.apply(messages, counts);
    expect(text(await seen(postgres))).toBe(text(expected));
  });

  it('is read and written by its indexes, whatever is asked', async () => {
    const [file, shared] = [await open('file'), await open('indexed')];
    for (const projection of [file, shared]) {
      await projection.apply(messages, counts);
      await projection.forget({ approvals: 1, runs: 1, audit: 1, letters: 1 });
      await askForAllPages(projection, viewer);
    }
    // What both were asked is held by every suite. What is written to PostgreSQL is sent with its values in place, in
    // batches.
    const written = [...prepared].filter((each) => /^(?:INSERT|UPDATE|DELETE)/.test(each));
    const tables = /^(?:INSERT INTO|UPDATE|DELETE FROM) (?:runs|labels|steps|audit|letters|approvals)\b/;
    const texts = written.filter((each) => tables.test(each));
    expect(texts.filter((each) => each.includes('link = ?')).length).toBeGreaterThan(0);
    const off = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((each) => `-c enable_${each}=off`);
    const options = [...off, '-c search_path=indexed'].join(' ');
    expect(await scansOn({ connectionString: database.url, options }, texts.map(numbered))).toEqual([]);
    const slow = numbered('DELETE FROM audit WHERE hash = ?');
    expect(await scansOn({ connectionString: database.url, options }, [slow])).toHaveLength(1);
  });

  it('goes on in PostgreSQL where it was, and is empty after it was cleared', async () => {
    const first = await open('kept');
    await first.apply(messages, counts);
    const expected = await seen(first);
    const second = await open('kept');
    expect(await seen(second)).toEqual(expected);
    const { after } = (await second.position()) as {
      readonly after: (topic: string, partition: number) => number | null;
    };
    const last = messages.findLast(({ topic }) => topic === topics.steps);
    expect(after(topics.steps, last?.partition ?? -1)).toBe(last?.offset);
    await second.forget({
      runs: Date.now() * 2,
      audit: Date.now() * 2,
      letters: Date.now() * 2,
      approvals: Date.now() * 2,
    });
    expect(await first.runs(viewer, {}, null, 9)).toEqual([]);
    expect(await first.audit(viewer, {}, null, 9)).toEqual([]);
    await first.apply(messages, counts);
    await second.clear();
    expect([await first.runs(viewer, {}, null, 9), await first.letters({}, null, 9)]).toEqual([[], []]);
  });

  it('is written by one instance at a time, and by another one soon after that has ended', async () => {
    const leading = new AbortController();
    const others = new AbortController();
    const failures: unknown[] = [];
    const following = { bus: system.bus, counts, costs, onFailure: (error: unknown) => void failures.push(error) };
    const first = await open('led');
    const second = await open('led');
    const one = follow(first, { ...following, signal: leading.signal });
    await eventually(() => first.runs(viewer, {}, null, 50), ({ length }) => length === 6); // prettier-ignore
    const two = follow(second, { ...following, signal: others.signal });
    // What is read is there for both.
    expect(await second.runs(viewer, {}, null, 50)).toHaveLength(6);
    await expect(second.lead(AbortSignal.timeout(1_500), () => undefined)).rejects.toThrow();
    leading.abort();
    await one;
    await system.ask({ question: 'Hello', requestId: 'later', sessionId: 's9' });
    await eventually(() => second.run(viewer, 'later'), (run) => run?.outcome === 'answer'); // prettier-ignore
    others.abort();
    await two;
    expect(failures).toEqual([]);
  });

  it('goes on with another connection where the one that leads is cut', async () => {
    const stopping = new AbortController();
    const failures: unknown[] = [];
    const projection = await open('cut');
    const following = follow(projection, {
      bus: system.bus,
      counts,
      costs,
      signal: stopping.signal,
      onFailure: (error) => void failures.push(error),
    });
    await eventually(() => projection.runs(viewer, {}, null, 50), ({ length }) => length >= 6); // prettier-ignore
    const side = new pg.Client({ connectionString: database.url });
    await side.connect();
    const cut =
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice lists test' and datname = current_database()";
    await side.query(cut);
    await side.end();
    await eventually(() => failures, ({ length }) => length > 0); // prettier-ignore
    await system.ask({ question: 'Hello', requestId: 'after-the-cut', sessionId: 's9' });
    await eventually(
      () => projection.run(viewer, 'after-the-cut').catch(() => undefined),
      (run) => run?.outcome === 'answer',
    );
    stopping.abort();
    await following;
  });

  it.each([1, 2])('of an earlier version, %s, is brought up to date, and then read on', async (version) => {
    const file = join(folder, `old-${version}.sqlite`);
    const old = new DatabaseSync(file);
    old.exec(readFileSync(join(import.meta.dirname, `../fixtures/projections/${version}.sql`), 'utf8'));
    old.exec(`PRAGMA application_id = ${0x534c5052}; PRAGMA user_version = ${version}`);
    old.close();
    const projection = await Projection.open({ file });
    opened.push(projection);
    expect(await projection.run(viewer, 'old-run')).toMatchObject({ question: 'Asked before?', outcome: 'answer' });
    expect(await projection.runs(viewer, { group: 'read-only' }, null, 9)).toHaveLength(1);
    expect(await projection.steps(viewer, 'old-session', 9)).toHaveLength(1);
    await projection.apply(messages, counts);
    expect(await projection.runs(viewer, {}, null, 50)).toHaveLength(7);
    expect((await projection.audit(viewer, {}, null, 200)).length).toBeGreaterThan(20);
    const { after } = (await projection.position()) as {
      readonly after: (topic: string, partition: number) => number | null;
    };
    // Version 1 read none, and what version 2 read of them it had no use for before.
    if (version === 1) expect(after(topics.approvals, 0)).toBeNull();
  });

  it('of a newer version is left alone, with a sentence', async () => {
    const postgres = await open('newer');
    await postgres.close();
    const side = new pg.Client({ connectionString: database.url });
    await side.connect();
    await side.query('insert into newer.migrations (version) values (99)');
    await side.end();
    await expect(open('newer')).rejects.toMatchObject({
      code: 'storage',
      retryable: false,
      message: expect.stringContaining('newer version (its format is 99'),
    });
    const file = join(folder, 'newer.sqlite');
    const newer = new DatabaseSync(file);
    newer.exec(`PRAGMA application_id = ${0x534c5052}; PRAGMA user_version = 99`);
    newer.close();
    await expect(Projection.open({ file })).rejects.toMatchObject({
      message: expect.stringContaining('newer version'),
    });
  });

  it('says what to change where there is no database, and where it refuses the password', async () => {
    const at = (url: string) => Projection.open({ url, schema: 'lists', instance: 'test' });
    await expect(at('postgres://sluice:x@127.0.0.1:9/none')).rejects.toMatchObject({
      code: 'storage',
      retryable: true,
    });
    const wrong = new URL(database.url);
    wrong.pathname = '/no_such_database';
    await expect(at(wrong.href)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('DATABASE_URL'),
    });
  });

  it('is in the PostgreSQL of DATABASE_URL for a gateway and for sluice project rebuild', async () => {
    const own = await freshDatabase((await infra('postgres')).databaseUrl);
    const inPostgres = await startSystem(workflowConfiguration({}), new ScriptedModel(() => ({ answer: 'done' })), undefined, { databaseUrl: own.url }); // prettier-ignore
    const { runtime } = inPostgres.embedded;
    const gateway = await startGateway(runtime);
    const listed = async (): Promise<readonly unknown[]> =>
      (
        (await (await fetch(`${gateway.url}/v1/runs`, { headers: localHeaders(runtime) })).json()) as {
          readonly runs?: readonly unknown[];
        }
      ).runs ?? [];
    try {
      await post(`${gateway.url}/v1/runs`, { question: 'Q', request_id: 'in-postgres' }, { prefer: 'wait=30' });
      const ended = (runs: readonly unknown[]): boolean => JSON.stringify(runs).includes('"status":"ended"');
      const before = await eventually(listed, ended);
      const { code, output } = await inProcess(project, runtime.environment, 'rebuild');
      expect([code, output]).toEqual([0, expect.stringContaining('rebuilt from')]);
      expect(await eventually(listed, ended)).toEqual(before);
      const side = new pg.Client({ connectionString: own.url });
      await side.connect();
      const { rows } = await side.query<{ request_id: string }>('select request_id from sluice_lists.runs');
      await side.end();
      expect(rows).toEqual([{ request_id: 'in-postgres' }]);
    } finally {
      await gateway.close();
      await inPostgres.close();
      await own.drop();
    }
  });
});
