import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Fault, ToolOutcomeLostError, ToolUnavailableError } from '@sluice/core';
import type { Documents, StoredDocument } from '@sluice/core';
import { openPostgresLedger, openSqliteLedger } from '@sluice/ledger';
import { journalIn, openEmbeddedKnowledge, openJournalFile } from '@sluice/packs';
import type { ChangeJournal } from '@sluice/packs';
import type { KnowledgeStore } from '@sluice/tools';
import { infra } from './infra/client.ts';
import { freshDatabase } from './infra/fresh.ts';
import { knowledgeSuite, sampleTurtle } from '../libs/packs/test/knowledge-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-shared-graph-'));
const load = [join(folder, 'sample.ttl')];
writeFileSync(load[0] ?? '', sampleTurtle);
afterAll(() => rmSync(folder, { recursive: true }));

interface Opened {
  /** The one journal, for one more who shares it. */
  journal(): ChangeJournal;
  close(): Promise<void>;
}

let files = 0;
const nextFile = (): string => join(folder, `${files++}.sqlite`);

const journals: readonly [string, () => Promise<Opened>][] = [
  [
    'a file',
    async () => {
      const file = nextFile();
      return { journal: () => openJournalFile(file), close: () => Promise.resolve() };
    },
  ],
  [
    'the SQLite ledger',
    async () => {
      const ledger = await openSqliteLedger({ file: nextFile() });
      return { journal: () => journalIn(ledger.documents), close: () => ledger.close() };
    },
  ],
  [
    'the PostgreSQL ledger',
    async () => {
      const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
      const ledger = await openPostgresLedger({ url, instance: 'a' });
      return { journal: () => journalIn(ledger.documents), close: async () => (await ledger.close(), drop()) };
    },
  ],
];

const patience = (): AbortSignal => AbortSignal.timeout(120_000);
const statement = (object: string | number) => ({ subject: 'Sluice', predicate: 'has', object });
const add = (store: KnowledgeStore, object: string | number, key: string) =>
  store.change({ add: [statement(object)], remove: [] }, key, patience());
const values = async (store: KnowledgeStore): Promise<unknown[]> =>
  (await store.find('Sluice', 'has', patience())).rows.map(({ has }) => has).toSorted();

describe.each(journals)('graphs that share %s', (name, open) => {
  const shared = (work: (one: KnowledgeStore, other: KnowledgeStore, journal: Opened) => Promise<void>) => async () => {
    const opened = await open();
    const stores = await Promise.all([0, 1].map(() => openEmbeddedKnowledge({ load, journal: opened.journal() })));
    try {
      await work(stores[0] as KnowledgeStore, stores[1] as KnowledgeStore, opened);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await opened.close();
    }
  };

  it(
    'have at once what the other changed, removals of loaded facts included (XB-18)',
    shared(async (one, other) => {
      await add(one, 'a', 'k1');
      expect(await values(other)).toEqual(['a']);
      await add(other, 'b', 'k2');
      expect(await values(one)).toEqual(['a', 'b']);
      const area = { subject: 'Öland', predicate: 'http://example.org/area', object: 12 };
      await one.change({ add: [], remove: [area] }, 'k3', patience());
      await expect(other.find('Öland', 'area', patience())).rejects.toThrow(/no relation "area"/);
    }),
  );

  it(
    'make a change once, also when it is requested again',
    shared(async (one, other) => {
      expect(await add(one, 'a', 'k')).toEqual({ added: 1, removed: 0, alreadyDone: false });
      expect(await add(other, 'something else', 'k')).toEqual({ added: 1, removed: 0, alreadyDone: true });
      expect(await values(other)).toEqual(['a']);
    }),
  );

  it(
    'lose nothing and count rightly when both are changed at once',
    shared(async (one, other) => {
      const numbers = Array.from({ length: 30 }, (_, n) => n);
      const both = await Promise.all(numbers.flatMap((n) => [add(one, n, `one ${n}`), add(other, n, `other ${n}`)]));
      // Each statement was added by one of the two, and found there by the other.
      expect(both.reduce((sum, { added }) => sum + added, 0)).toBe(numbers.length);
      for (const store of [one, other]) expect((await values(store)).length).toBe(numbers.length);
    }),
  );

  it(
    'have everything when they are opened later',
    shared(async (one, _other, { journal }) => {
      for (let n = 0; n < 120; n++) await add(one, n, `k${n}`);
      const late = await openEmbeddedKnowledge({ load, journal: journal() });
      expect((await values(late)).length).toBe(120);
      expect(await add(late, 0, 'k0')).toMatchObject({ alreadyDone: true });
      await late.close();
    }),
  );

  let opened: Opened | undefined;
  afterAll(() => opened?.close());
  knowledgeSuite(`the store on ${name}`, async () => {
    opened = await open();
    return openEmbeddedKnowledge({ load, journal: opened.journal() });
  });
});

describe('a graph and its journal', () => {
  const kept = new Map<string, StoredDocument>();
  const documents: Documents = {
    find: async (key) => kept.get(key),
    put: async (key, version, text, expiresAt) => kept.set(key, { version, text, expiresAt }).has(key),
    sweep: () => Promise.resolve(),
  };
  const gone = (): Promise<never> => Promise.reject(new Fault('ledger_unreachable', 'gone', true));

  it('is looked at once for each question, whatever that takes', async () => {
    let looks = 0;
    const find = (key: string) => (looks++, documents.find(key));
    const store = await openEmbeddedKnowledge({ load, journal: journalIn({ ...documents, find }) });
    looks = 0;
    await store.find('Northland', 'borders', patience());
    await store.query('ASK {}', patience());
    expect(looks).toBe(2);
    await store.close();
  });

  it('says whether something may have happened, and goes on when it is back', async () => {
    let now: Documents = documents;
    const journal = journalIn({ ...documents, find: (key) => now.find(key), put: (...given) => now.put(...given) });
    const store = await openEmbeddedKnowledge({ load, journal });
    now = { ...documents, put: gone };
    await expect(add(store, 'a', 'k')).rejects.toThrow(ToolOutcomeLostError);
    now = { ...documents, find: gone, put: gone };
    await expect(add(store, 'a', 'k')).rejects.toThrow(ToolUnavailableError);
    await expect(store.find('Northland', 'area', patience())).rejects.toThrow(ToolUnavailableError);
    now = documents;
    expect(await add(store, 'a', 'k')).toMatchObject({ added: 1, alreadyDone: false });
    expect(await values(store)).toEqual(['a']);
    await store.close();
  });
});
