import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Fault } from '@sluice/core';
import { inTransaction, isSqliteError, openFile, pastLocks, sqliteFault } from '@sluice/sqlite';
import { migrations } from './tables.js';
import type { Store, Value } from './store.js';

const named = { noun: 'projection', code: 'storage' } as const;
const whatToDo = 'Remove it: it is made again from the log.';
const applicationId = 0x534c5052;

/** The tables in a file that this process alone writes. Rejects with Fault('storage') that says what to change. */
export async function sqliteStore(file: string): Promise<Store> {
  const database = await pastLocks(() => openDatabase(file), asFault);
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text) ?? database.prepare(text);
    if (prepared.size > mostPrepared) prepared.clear();
    prepared.set(text, known);
    return known;
  };
  return {
    all: (text, values) => pastLocks(() => prepare(text).all(...values) as Record<string, Value>[], asFault),
    write: (statements) =>
      pastLocks(
        () =>
          inTransaction(database, () => {
            for (const { text, values } of statements) prepare(text).run(...values);
          }),
        asFault,
      ),
    lead: () => Promise.resolve(() => Promise.resolve()),
    close: () => {
      if (database.isOpen) database.close();
      return Promise.resolve();
    },
  };
}

/** Of filters in all their combinations. */
const mostPrepared = 200;

function openDatabase(file: string): DatabaseSync {
  const scripts = migrations('sqlite');
  const database = openFile(file, { ...named, applicationId, migrations: scripts, whatToDo });
  // It can be rebuilt from the log, so a commit need not wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}

function asFault(error: unknown): unknown {
  if (error instanceof Fault || !isSqliteError(error)) return error;
  return sqliteFault('The projection could not be used', error, named);
}
