import { describe, expect, it } from '@jest/globals';
import { Commits } from '../../src/sqlite/commits.js';
import { openDatabase } from '../../src/sqlite/database.js';
import { Store } from '../../src/sqlite/store.js';
import { inFolder } from './on-file.js';

/** Commits into a table of names, and how many transactions there were. */
function onCommits(work: (at: { commits: Commits; put: (name: string) => void; state: () => State }) => Promise<void>) {
  return inFolder(async (file) => {
    const database = openDatabase(file);
    const store = new Store(database);
    const commits = new Commits(store, { begins: () => undefined, committed: () => undefined });
    database.exec('CREATE TABLE names (name TEXT)');
    const other = openDatabase(file);
    const version = other.prepare('PRAGMA data_version');
    const versionNow = (): number => Number(version.get()?.['data_version']);
    const begun = versionNow();
    const insert = database.prepare('INSERT INTO names VALUES (?)');
    const all = other.prepare('SELECT name FROM names');
    await work({
      commits,
      put: (name) => void insert.run(name),
      state: () => ({ names: all.all().map(({ name }) => String(name)), hasChanged: versionNow() !== begun }),
    });
    await commits.idle();
    other.close();
    await store.close();
  });
}

interface State {
  readonly names: readonly string[];
  readonly hasChanged: boolean;
}

const how = { durability: 'processLoss' } as const;

describe('commits of the groups of a process', () => {
  it('share a transaction if they are asked for in one turn: none is on the log before all are', () =>
    onCommits(async ({ commits, put, state }) => {
      const seen: State[] = [];
      const one = (name: string): Promise<void> =>
        commits.add(() => {
          seen.push(state());
          put(name);
        }, how);
      await Promise.all(['filter', 'agent', 'executor'].map(one));
      expect(seen).toEqual(Array(3).fill({ names: [], hasChanged: false }));
      expect(state().names).toEqual(['filter', 'agent', 'executor']);
    }));

  it('fail alone: what throws leaves nothing, and the others are on the log', () =>
    onCommits(async ({ commits, put, state }) => {
      const failing = commits.add(() => {
        put('lost');
        throw new Error('The lease is another’s.');
      }, how);
      const refused = expect(failing).rejects.toThrow('The lease is another’s.');
      await Promise.all([refused, commits.add(() => put('kept'), { durability: 'powerLoss' })]);
      expect(state().names).toEqual(['kept']);
    }));

  it('go with another’s if they can wait, and by themselves if there is none', () =>
    onCommits(async ({ commits, put, state }) => {
      const patient = (name: string, patienceMs: number) => commits.add(() => put(name), { ...how, patienceMs });
      const waiting = patient('audit', 600_000);
      await new Promise(setImmediate);
      expect(state().names).toEqual([]);
      await commits.add(() => put('agent'), how);
      await waiting;
      expect([...state().names].sort()).toEqual(['agent', 'audit']);
      await patient('audit alone', 1);
      expect(state().names).toContain('audit alone');
    }));

  it('that wait for another’s are made when the log is closed', () =>
    onCommits(async ({ commits, put, state }) => {
      const waiting = commits.add(() => put('audit'), { ...how, patienceMs: 600_000 });
      await commits.idle();
      await waiting;
      expect(state().names).toEqual(['audit']);
    }));
});
