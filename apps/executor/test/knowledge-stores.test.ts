import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Configuration, KnowledgeSettings } from '@sluice/core';
import type { KnowledgeStore } from '@sluice/tools';
import { KnowledgeStores } from '../src/knowledge-stores.js';
import { Toolbox } from '../src/toolbox.js';

const patience = (): AbortSignal => AbortSignal.timeout(120_000);

describe('runs of two versions that name different graphs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-graphs-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function toolbox(): { box: Toolbox; graph: (load: readonly string[]) => Promise<KnowledgeStore> } {
    const environment = { bus: 'sqlite', dataFolder: folder, sessionsKeptMs: null, secret: () => undefined };
    const log = { warn: () => undefined, error: () => undefined };
    const box = new Toolbox(
      { environment, log, metrics: { listAge: {} }, configurations: { onChange: () => undefined } } as never,
      undefined as never,
      undefined as never,
    );
    const graph = async (load: readonly string[]): Promise<KnowledgeStore> => {
      const configuration = { knowledge: { load, endpoint: null, updateEndpoint: null } } as unknown as Configuration;
      const tool = { capabilities: ['knowledge'] } as never;
      const given = await box.capabilities(
        tool,
        {} as never,
        patience(),
        configuration,
        undefined as never,
        () => Promise.reject(new Error('There is no credential here.')),
        undefined as never,
        32_768,
        undefined as never,
      );
      return given['knowledge'] as KnowledgeStore;
    };
    return { box, graph };
  }

  function file(name: string): string {
    writeFileSync(join(folder, name), Array.from({ length: 60 }, (_, n) => `<x:${n}> <x:${name}> "${n}" .`).join('\n'));
    return join(folder, name);
  }

  it('each keep their own, loaded once, and see each other’s changes', async () => {
    const { box, graph } = toolbox();
    const [first, second] = [file('first.nt'), file('second.nt')];
    const old = await graph([first]);
    // Slow enough to be under way while the other graph is opened.
    const slow = old.query('SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }', patience());
    slow.catch(() => undefined);
    const young = await graph([second]);
    const has = { subject: 'Sluice', predicate: 'has', object: 'one' };
    expect(await young.change({ add: [has], remove: [] }, 'k1', patience())).toMatchObject({ added: 1 });
    expect((await slow).rows).toEqual([{ n: 216_000 }]);
    expect((await old.find('Sluice', 'has', patience())).rows).toEqual([{ has: 'one' }]);
    // Whoever loads again misses it.
    rmSync(first);
    rmSync(second);
    for (const [path, own] of [
      [first, 'first.nt'],
      [second, 'second.nt'],
    ] as const)
      expect((await (await graph([path])).query(`SELECT * { ?s <x:${own}> ?o }`, patience())).count).toBe(60);
    await box.close();
  });
});

describe('the stores in use', () => {
  const settings = (load: string): KnowledgeSettings => ({ load: [load], endpoint: null, updateEndpoint: null });

  function stores() {
    const [opened, closed]: [string[], string[]] = [[], []];
    let end = (): void => undefined;
    const open = async ({ load: [name = ''] }: KnowledgeSettings): Promise<KnowledgeStore> => {
      opened.push(name);
      if (name === 'broken') throw new Error('It cannot be read.');
      return {
        find: () => new Promise((resolve) => (end = () => resolve({ rows: [], count: 0 }))),
        query: async () => ({ rows: [], count: 0 }),
        change: () => Promise.reject(new Error('Nothing is changed here.')),
        close: async () => void closed.push(name),
      };
    };
    const all = new KnowledgeStores({ open, onCloseFailed: () => undefined, idleMs: 50 });
    return { all, opened, closed, end: () => end() };
  }

  it('are closed once they are unused, but for the one of the configuration in force', async () => {
    const { all, opened, closed, end } = stores();
    all.use(settings('a'));
    const a = await all.of(settings('a'));
    const b = await all.of(settings('b'));
    const finding = b.find('x', undefined, patience());
    await sleep(150);
    expect(closed).toEqual([]);
    end();
    await finding;
    await sleep(150);
    expect(closed).toEqual(['b']);
    await b.query('ASK {}', patience());
    all.use(settings('b'));
    await sleep(150);
    expect([opened, closed]).toEqual([
      ['a', 'b', 'b'],
      ['b', 'a'],
    ]);
    await a.query('ASK {}', patience());
    await all.close();
    expect(closed.slice(2).sort()).toEqual(['a', 'b']);
  });

  it('are opened again after they could not be', async () => {
    const { all, opened } = stores();
    await expect(all.of(settings('broken'))).rejects.toThrow('It cannot be read.');
    await expect(all.of(settings('broken'))).rejects.toThrow('It cannot be read.');
    expect(opened).toHaveLength(2);
    await all.close();
  });
});
