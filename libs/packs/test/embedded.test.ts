import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { openEmbeddedKnowledge, openJournalFile } from '@sluice/packs';
import type { ChangeJournal } from '@sluice/packs';
import type { KnowledgeStore } from '@sluice/tools';
import { patience } from '../../sources/test/configured.js';
import { knowledgeSuite, sampleTurtle } from './knowledge-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'knowledge-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const sample = file('sample.ttl', sampleTurtle);
/** Lets a child process run the sources as they are. */
const hooks = join(import.meta.dirname, '../../../test/process/typescript.mjs');
const add = (store: KnowledgeStore, object: string, key: string) =>
  store.change({ add: [{ subject: 'Sluice', predicate: 'has', object }], remove: [] }, key, patience());

knowledgeSuite('the embedded store', () => openEmbeddedKnowledge({ load: [sample], journal: openJournalFile(null) }));

describe('the embedded store', () => {
  it('keeps changes over a restart, removals of loaded facts included', async () => {
    const open = () =>
      openEmbeddedKnowledge({ load: [sample], journal: openJournalFile(join(folder, 'made/for/it/restart.sqlite')) });
    const first = await open();
    await add(first, 'one', 'k1');
    await first.change(
      { add: [], remove: [{ subject: 'Öland', predicate: 'area', object: 12 }] },
      'no such label',
      patience(),
    );
    await first.change(
      { add: [], remove: [{ subject: 'Öland', predicate: 'http://example.org/area', object: 12 }] },
      'k2',
      patience(),
    );
    await first.close();

    const second = await open();
    expect((await second.find('Sluice', 'has', patience())).rows).toEqual([{ has: 'one' }]);
    await expect(second.find('Öland', 'area', patience())).rejects.toThrow(/no relation "area"/);
    expect(await add(second, 'two', 'k1')).toEqual({ added: 1, removed: 0, alreadyDone: true });
    expect((await second.find('Sluice', 'has', patience())).count).toBe(1);
    await second.close();
  });

  it('has what it said it has after kill -9', async () => {
    const journal = join(folder, 'killed.sqlite');
    const script = file('writer.mjs', writerScript(join(import.meta.dirname, '../src/knowledge/journal-file.ts')));
    const sources = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', '--import', hooks];
    const child = spawn(process.execPath, [...sources, script, journal], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('key-20\n')) child.kill('SIGKILL');
    });
    const [, signal] = (await once(child, 'close')) as [unknown, string];
    expect(signal).toBe('SIGKILL');
    const kept = openJournalFile(journal);
    const entries = await kept.after(0);
    const keys = said
      .split('\n')
      .filter((line) => line.startsWith('key-'))
      .slice(0, 20);
    expect(keys).toHaveLength(20);
    expect(entries.slice(0, keys.length).map(({ key }) => key)).toEqual(keys);
    await kept.close();
  });

  it('stops a query after its time, and answers the next one with nothing lost', async () => {
    const many = file('many.nt', Array.from({ length: 1_000 }, (_, n) => `<x:${n}> <x:p> "${n}" .`).join('\n'));
    const store = await openEmbeddedKnowledge({ load: [many], journal: openJournalFile(null), queryMs: 1_000 });
    await add(store, 'one', 'k1');
    const endless = 'SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }';
    const before = performance.now();
    await expect(store.query(endless, patience())).rejects.toThrow(/longer than 1 s/);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect((await store.query('SELECT * { ?s <x:p> ?o }', patience())).count).toBe(1_000);
    expect((await store.find('Sluice', 'has', patience())).count).toBe(1);

    const caller = new AbortController();
    const running = store.query(endless, caller.signal);
    setTimeout(() => caller.abort(new Error('enough')), 50);
    await expect(running).rejects.toThrow('enough');
    expect(await add(store, 'one', 'k1')).toMatchObject({ alreadyDone: true });
    await store.close();
  });

  it('leaves the event loop free while a query runs', async () => {
    const many = file('free.nt', Array.from({ length: 500 }, (_, n) => `<x:${n}> <x:p> "${n}" .`).join('\n'));
    const store = await openEmbeddedKnowledge({ load: [many], journal: openJournalFile(null), queryMs: 500 });
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    await expect(store.query('SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }', patience())).rejects.toThrow(
      ToolUserError,
    );
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    await store.close();
  });

  it('refuses more results than it counts, also where the query has its own limit', async () => {
    const many = file('product.nt', Array.from({ length: 150 }, (_, n) => `<x:${n}> <x:p> "${n}" .`).join('\n'));
    const store = await openEmbeddedKnowledge({ load: [many], journal: openJournalFile(null) });
    for (const limit of ['', 'LIMIT 20000', 'limit 15000 OFFSET 3']) {
      await expect(store.query(`SELECT * { ?a ?b ?c . ?d ?e ?f } ${limit}`, patience())).rejects.toThrow(
        /more than 10000 results/,
      );
    }
    expect((await store.query('SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 10000', patience())).count).toBe(10_000);
    expect((await store.query('SELECT ?a { ?a ?b ?c } VALUES ?a { <x:1> }', patience())).count).toBe(1);
    await store.close();
  });

  it.each([
    ['broken.nt', '<a:b> <a:c> "fine" .\n<a:b> oops .\n', /broken\.nt, line 2: .*knowledge\.load/],
    ['broken.ttl', '@prefix : <x:> .\n:a :b :c .\n:d :e nothing-like-that .\n', /broken\.ttl, line 3: /],
    ['sheet.csv', 'a,b', /sheet\.csv cannot be loaded: its name must end in \.nt/],
  ])('names file and line of %s', async (name, text, expected) => {
    await expect(
      openEmbeddedKnowledge({ load: [sample, file(name, text)], journal: openJournalFile(null) }),
    ).rejects.toThrow(expected);
  });

  it('names a file that is missing or no file', async () => {
    await expect(
      openEmbeddedKnowledge({ load: [join(folder, 'gone.nt')], journal: openJournalFile(null) }),
    ).rejects.toThrow(/gone\.nt is not there/);
    await expect(
      openEmbeddedKnowledge({ load: [join(sample, 'x.nt')], journal: openJournalFile(null) }),
    ).rejects.toThrow(/x\.nt/);
  });

  it('names a journal that cannot be opened', () => {
    expect(() => openJournalFile('/proc/journal.sqlite')).toThrow(
      /\/proc\/journal\.sqlite, cannot be opened: .*writable/,
    );
    const text = file(
      'text.sqlite',
      'not a database, but long enough to look at it and see that it is none at all'.repeat(20),
    );
    expect(() => openJournalFile(text)).toThrow(/text\.sqlite, cannot be opened/);
  });

  it('says that it is closed', async () => {
    const store = await openEmbeddedKnowledge({ load: [], journal: openJournalFile(null) });
    await store.close();
    await expect(store.query('ASK {}', patience())).rejects.toThrow(/closed/);
  });

  it('ends what it does before it is closed, and refuses what waits', async () => {
    const { journal, written, goOn } = slowJournal();
    const store = await openEmbeddedKnowledge({ load: [], journal });
    const changing = add(store, 'one', 'k1');
    await written;
    const waiting = add(store, 'two', 'k2');
    waiting.catch(() => undefined);
    const closing = store.close();
    goOn();
    expect(await changing).toEqual({ added: 1, removed: 0, alreadyDone: false });
    await expect(waiting).rejects.toThrow(ToolUnavailableError);
    await closing;
  });

  it('knows what a change did that is in the journal, whatever becomes of the thread', async () => {
    const { journal, written, goOn } = slowJournal();
    const store = await openEmbeddedKnowledge({ load: [], journal, queryMs: 2_000 });
    const changing = add(store, 'one', 'k1');
    await written;
    await store.close();
    goOn();
    expect(await changing).toEqual({ added: 1, removed: 0, alreadyDone: false });
  });
});

/** A journal that has written an entry and does not say so yet. */
function slowJournal(): { journal: ChangeJournal; written: Promise<null>; goOn: () => void } {
  const inner = openJournalFile(null);
  const written = Promise.withResolvers<null>();
  const said = Promise.withResolvers<null>();
  const append: ChangeJournal['append'] = async (...entry) => {
    const done = await inner.append(...entry);
    written.resolve(null);
    await said.promise;
    return done;
  };
  return { journal: { ...inner, append }, written: written.promise, goOn: () => said.resolve(null) };
}

function writerScript(journal: string): string {
  return `import { openJournalFile } from ${JSON.stringify(journal)};
const journal = openJournalFile(process.argv[2]);
for (let n = 1; ; n++) {
  await journal.append(n - 1, { key: 'key-' + n, add: [], remove: [], added: 0, removed: 0 });
  process.stdout.write('key-' + n + '\\n');
}
`;
}
