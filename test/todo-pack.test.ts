import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Fault, ToolInputError, ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Documents, JsonObject } from '@sluice/core';
import { openPostgresLedger, openSqliteLedger } from '@sluice/ledger';
import type { DocumentedLedger } from '@sluice/ledger';
import { builtInTools, sessionKey, todosIn } from '@sluice/packs';
import type { SessionLife } from '@sluice/packs';
import { infra } from './infra/client.ts';
import { freshDatabase } from './infra/fresh.ts';

interface Opened {
  readonly ledger: DocumentedLedger;
  close(): Promise<void>;
}

const stores: readonly [string, () => Promise<Opened>][] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-todos-'));
      const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
      return { ledger, close: async () => (await ledger.close(), rmSync(folder, { recursive: true })) };
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
      const ledger = await openPostgresLedger({ url, instance: 'a' });
      return { ledger, close: async () => (await ledger.close(), drop()) };
    },
  ],
];

type Run = (type: string, args?: JsonObject, call?: string, session?: string) => Promise<Record<string, unknown>>;

let calls = 0;

function toolsOn(documents: Documents, life: SessionLife = { clock: { now: () => 0 }, keptMs: null }): Run {
  return async (type, args = {}, call = `call-${calls++}`, sessionId = 's') => {
    const contract = builtInTools.find((each) => each.type === type);
    if (contract === undefined) throw new Error(`no ${type}`);
    const context = { runId: 'r', sessionId, toolCallId: call, actorId: 'user:u', tenantId: 't' };
    const given = { todos: todosIn(documents, sessionKey(context), life), idempotency: { key: call } };
    const output = contract.parseOutput(await contract.execute(contract.parseInput(args), context, given));
    return output as Record<string, unknown>;
  };
}

describe.each(stores)('the todo pack on %s', (_, open) => {
  const onStore = (work: (run: Run, documents: Documents) => Promise<void>) => async () => {
    const { ledger, close } = await open();
    try {
      await work(toolsOn(ledger.documents), ledger.documents);
    } finally {
      await close();
    }
  };

  it(
    'adds, starts and completes tasks, and lists them in the order in which they came (D-T09, D-T10, D-T11, D-T12)',
    onStore(async (run) => {
      expect(await run('list_todos')).toEqual({ todos: [], total: 0, archives: 0 });
      const first = { id: 1, task: 'Read', priority: 'medium', status: 'pending' };
      expect(await run('add_todo', { task: ' Read\n' })).toEqual(first);
      await run('add_todo', { task: 'Write', priority: 'high' });
      await run('add_todo', { task: 'Rest', priority: 'low' });
      expect(await run('start_todo', { id: 1 })).toEqual({ ...first, status: 'in_progress' });
      expect(await run('complete_todo', { id: 2 })).toMatchObject({ id: 2, status: 'completed' });
      const { todos, total } = await run('list_todos');
      expect(total).toBe(3);
      expect(todos).toMatchObject([
        { id: 1, status: 'in_progress' },
        { id: 2, status: 'completed' },
        { id: 3, status: 'pending' },
      ]);
      expect((await run('list_todos', { offset: 2 }))['todos']).toMatchObject([{ id: 3 }]);
    }),
  );

  it(
    'tells the progress and what is next: the highest priority, then the oldest (D-T13, D-T15)',
    onStore(async (run) => {
      expect(await run('get_next_todo')).toEqual({ pending: 0 });
      expect(await run('get_progress')).toEqual({ total: 0, pending: 0, in_progress: 0, completed: 0, percent: 0 });
      for (const priority of ['low', 'high', 'medium', 'high']) await run('add_todo', { task: priority, priority });
      const order = [];
      for (let next = await run('get_next_todo'); next['todo'] !== undefined; next = await run('get_next_todo')) {
        const { id } = next['todo'] as { id: number };
        order.push(id);
        await run('start_todo', { id });
      }
      expect(order).toEqual([2, 4, 3, 1]);
      await run('complete_todo', { id: 2 });
      expect(await run('get_progress')).toEqual({ total: 4, pending: 0, in_progress: 3, completed: 1, percent: 25 });
    }),
  );

  it(
    'archives and begins again, the archives readable, no id given twice (D-T14)',
    onStore(async (run) => {
      await expect(run('archive_and_reset')).rejects.toThrow(/nothing to archive/);
      await run('add_todo', { task: 'one' });
      expect(await run('archive_and_reset')).toEqual({ archive: 1 });
      expect(await run('list_todos')).toEqual({ todos: [], total: 0, archives: 1 });
      expect(await run('add_todo', { task: 'two' })).toMatchObject({ id: 2 });
      expect(await run('archive_and_reset')).toEqual({ archive: 2 });
      expect(await run('list_todos', { archive: 1 })).toMatchObject({ todos: [{ id: 1, task: 'one' }], archives: 2 });
      expect(await run('list_todos', { archive: 2 })).toMatchObject({ todos: [{ id: 2, task: 'two' }] });
      await expect(run('list_todos', { archive: 3 })).rejects.toThrow(/no archived list 3.*There are 2/);
    }),
  );

  it(
    'counts a call that is repeated once, and answers it as before',
    onStore(async (run) => {
      const once = await run('add_todo', { task: 'one' }, 'the call');
      await run('add_todo', { task: 'two' });
      expect(await run('add_todo', { task: 'one' }, 'the call')).toEqual(once);
      expect(await run('list_todos')).toMatchObject({ total: 2 });
      expect(await run('archive_and_reset', {}, 'the archive')).toEqual({ archive: 1 });
      await run('add_todo', { task: 'three' });
      expect(await run('archive_and_reset', {}, 'the archive')).toEqual({ archive: 1 });
      expect(await run('list_todos')).toMatchObject({ total: 1, archives: 1 });
    }),
  );

  it(
    'loses nothing when several change the list at once',
    onStore(async (run) => {
      await Promise.all(Array.from({ length: 20 }, (_each, n) => run('add_todo', { task: `task ${n}` })));
      const { todos } = await run('list_todos');
      expect((todos as { id: number }[]).map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_each, n) => n + 1));
    }),
  );

  it(
    'keeps the sessions apart',
    onStore(async (run) => {
      await run('add_todo', { task: 'mine' }, 'a', 'one');
      for (const other of ['ONE', 'one/1', '', 'one"]']) {
        expect(await run('list_todos', {}, 'b', other)).toMatchObject({ total: 0 });
      }
    }),
  );

  it(
    'refuses what it cannot do, and says what can be done',
    onStore(async (run) => {
      for (const type of ['start_todo', 'complete_todo']) {
        await expect(run(type, { id: 7 })).rejects.toThrow(ToolUserError);
        await expect(run(type, { id: 7 })).rejects.toThrow(/no task 7.*list_todos/);
      }
      await expect(run('add_todo', { task: ' \n ' })).rejects.toThrow(/task is empty/);
      await expect(run('add_todo', { task: 'x'.repeat(201) })).rejects.toThrow(ToolInputError);
      await expect(run('add_todo', { task: 'x', priority: 'urgent' })).rejects.toThrow(/"high", "medium", "low"/);
    }),
  );

  it(
    'bounds the list, and shows it in parts that fit (XB-33)',
    onStore(async (run) => {
      for (let n = 0; n < 100; n++) await run('add_todo', { task: '東'.repeat(200) });
      await expect(run('add_todo', { task: 'one more' })).rejects.toThrow(/100 tasks.*archive_and_reset/);
      const part = await run('list_todos', { offset: 40 });
      expect(part).toMatchObject({ total: 100 });
      expect(part['todos']).toHaveLength(40);
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(32_768);
    }),
  );

  it(
    'is kept for its time behind its last use, of which reading is one, and an archive behind its making',
    onStore(async (_run, documents) => {
      let now = 1_000;
      const run = toolsOn(documents, { clock: { now: () => now }, keptMs: 100 });
      const after = (ms: number): Promise<void> => documents.sweep((now += ms));
      await run('add_todo', { task: 'one' });
      await run('archive_and_reset');
      await run('add_todo', { task: 'two' });
      await after(99);
      expect(await run('get_next_todo')).toMatchObject({ todo: { task: 'two' } });
      await after(99);
      expect(await run('list_todos')).toMatchObject({ total: 1, archives: 1 });
      await expect(run('list_todos', { archive: 1 })).rejects.toThrow('The archived list 1 is no longer kept.');
      await after(100);
      expect(await run('list_todos')).toEqual({ todos: [], total: 0, archives: 0 });
      expect(await run('add_todo', { task: 'three' })).toMatchObject({ id: 1 });
    }),
  );

  it(
    'archives under a number at which a list that is gone left an archive',
    onStore(async (_run, documents) => {
      const run = toolsOn(documents, { clock: { now: () => 0 }, keptMs: null });
      await run('add_todo', { task: 'former' });
      await run('archive_and_reset');
      // The list goes and its archive stays, as where the setting was another when it was made.
      const aging = toolsOn(documents, { clock: { now: () => 0 }, keptMs: 1 });
      await aging('list_todos');
      await documents.sweep(1);
      await run('add_todo', { task: 'later' });
      await run('archive_and_reset');
      expect(await run('list_todos', { archive: 1 })).toMatchObject({ todos: [{ task: 'later' }] });
    }),
  );

  it(
    'says whether something may have happened when the store goes away',
    onStore(async (_run, documents) => {
      const fault = new Fault('ledger_unreachable', 'gone', true);
      const unread = toolsOn({ ...documents, find: () => Promise.reject(fault) });
      await expect(unread('add_todo', { task: 'x' })).rejects.toThrow(ToolUnavailableError);
      const unwritten = toolsOn({ ...documents, put: () => Promise.reject(fault) });
      await expect(unwritten('add_todo', { task: 'x' })).rejects.toThrow(ToolOutcomeLostError);
      expect(await unwritten('list_todos')).toMatchObject({ total: 0 });
    }),
  );
});
