import { describe, expect, it } from '@jest/globals';
import { ResultCache } from '@sluice/hub';
import { parseExactJson } from '@sluice/core';
import type { CacheableCall } from '@sluice/hub';
import type { JsonValue, StoredDocument } from '@sluice/core';

const call: CacheableCall = {
  server: 'shop',
  toolId: 'mcp__shop__look',
  cacheMs: 1_000,
  version: 'v1',
  caller: { tenantId: 't', actorId: 'user:ann' },
  args: { what: 'tea', how: 1 },
};

/** Documents as several processes see them. */
function shared() {
  const all = new Map<string, StoredDocument>();
  return {
    all,
    find: (key: string) => Promise.resolve(all.get(key)),
    put: (key: string, version: number, text: string, expiresAt: number | null) => {
      if ((all.get(key)?.version ?? 0) !== version - 1) return Promise.resolve(false);
      all.set(key, { version, text, expiresAt });
      return Promise.resolve(true);
    },
  };
}

function cacheOn(documents: Pick<ReturnType<typeof shared>, 'find' | 'put'>) {
  const asked: string[] = [];
  const faults: unknown[] = [];
  let now = 1_000_000;
  const cache = new ResultCache({
    documents,
    clock: { now: () => now },
    onAsked: (_server, outcome) => void asked.push(outcome),
    onFault: (_server, error) => void faults.push(error),
  });
  return {
    cache,
    asked,
    faults,
    pass: (milliseconds: number) => void (now += milliseconds),
    /** What the call gets: what was kept, or this output, which is then kept. */
    get: async (output: JsonValue, changes: Partial<CacheableCall> = {}) => {
      const found = await cache.output({ ...call, ...changes });
      if (found.kind === 'found') return found.output;
      found.keep(output, null);
      return output;
    },
  };
}

describe('the cache of results (M-82)', () => {
  it('answers equal calls, whatever the order of their arguments, and says since when', async () => {
    const { cache, get, pass, asked } = cacheOn(shared());
    await get('first');
    pass(10);
    expect(await get('second', { args: { how: 1, what: 'tea' } })).toBe('first');
    expect(await cache.output(call)).toMatchObject({ kind: 'found', cachedAtMs: 1_000_000 });
    expect(asked).toEqual(['miss', 'hit', 'hit']);
  });

  it.each([
    ['tenant', { caller: { tenantId: 'u', actorId: 'user:ann' } }],
    ['version of the configuration', { version: 'v2' }],
    ['tool', { toolId: 'mcp__shop__find' }],
    ['argument', { args: { what: 'tea', how: 2 } }],
    ['connection', { caller: { ...call.caller, connectionId: 'shop' } }],
  ])('does not answer for another %s', async (_, changes) => {
    const { get } = cacheOn(shared());
    await get('first');
    expect(await get('second', changes)).toBe('second');
  });

  it('tells callers apart where the server knows who calls, and only there', async () => {
    const { get } = cacheOn(shared());
    const by = (actorId: string, connectionId?: string) => ({
      caller: { tenantId: 't', actorId, ...(connectionId === undefined ? {} : { connectionId }) },
    });
    await get('ann’s', by('user:ann', 'shop'));
    expect(await get('bob’s', by('user:bob', 'shop'))).toBe('bob’s');
    await get('anybody’s', by('user:ann'));
    expect(await get('bob’s', by('user:bob'))).toBe('anybody’s');
  });

  it('forgets when the time is up, and when the clock was set back', async () => {
    const { get, pass } = cacheOn(shared());
    await get('first');
    pass(999);
    expect(await get('second')).toBe('first');
    pass(1);
    expect(await get('second')).toBe('second');
    pass(-1);
    expect(await get('third')).toBe('third');
  });

  it('forgets what was given before an effect at its server, or while it ran, in every process, and nothing of another server', async () => {
    const documents = shared();
    const [here, there] = [cacheOn(documents), cacheOn(documents)];
    await here.get('before');
    await there.get('before');
    await here.get('other', { server: 'library', toolId: 'other' });
    await there.cache.changing('shop', async () => {
      expect(await here.get('during')).toBe('during');
      expect(await here.get('again')).toBe('during');
    });
    expect(await here.get('after')).toBe('after');
    expect(await there.get('after, there')).toBe('after, there');
    expect(await here.get('new', { server: 'library', toolId: 'other' })).toBe('other');
  });

  it('does not keep what a call gave that began before an effect and ended behind it', async () => {
    const { cache, get } = cacheOn(shared());
    const slow = await cache.output(call);
    await cache.changing('shop', () => Promise.resolve());
    if (slow.kind === 'none') slow.keep('old', null);
    expect(await get('new')).toBe('new');
  });

  it('goes without where the documents are out of reach; an effect is not begun then, and one that was is not undone', async () => {
    const documents = shared();
    const away = (): never => {
      throw new Error('away');
    };
    const { get, faults } = cacheOn({ find: () => Promise.reject(new Error('away')), put: away });
    expect([await get('first'), await get('second')]).toEqual(['first', 'second']);
    expect(faults).toHaveLength(2);
    const never = cacheOn({ find: () => Promise.reject(new Error('away')), put: away });
    await expect(never.cache.changing('shop', () => Promise.resolve('done'))).rejects.toThrow('away');
    let marks = 0;
    const lost = cacheOn({
      find: documents.find,
      put: (...given) => (marks++ === 0 ? documents.put(...given) : Promise.reject(new Error('lost'))),
    });
    expect(await lost.cache.changing('shop', () => Promise.resolve('done'))).toBe('done');
    expect(lost.faults).toHaveLength(1);
  });

  it('keeps digits as they were written, takes nothing too large, and lets go what was used least recently', async () => {
    const { cache, get } = cacheOn(shared());
    const exact = parseExactJson('{"n":12345678901234567890.10}');
    await get(exact);
    expect(JSON.stringify(await get(null))).toBe('{"n":12345678901234567890.10}');
    await get('x'.repeat(1_048_577), { toolId: 'large' });
    expect(await get('not kept', { toolId: 'large' })).toBe('not kept');
    for (let n = 0; n < 40; n++) {
      await get('y'.repeat(1_000_000), { toolId: `filler-${n}` });
      expect(JSON.stringify(await get(null))).toContain('12345678901234567890.10');
    }
    expect((await cache.output({ ...call, toolId: 'filler-0' })).kind).toBe('none');
    expect((await cache.output({ ...call, toolId: 'filler-39' })).kind).toBe('found');
  });
});
