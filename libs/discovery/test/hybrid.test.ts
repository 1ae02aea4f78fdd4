import { describe, expect, it } from '@jest/globals';
import type { Documents, Embedder, StoredDocument } from '@sluice/core';
import { chooseTools, fused, habitShares, HabitStore, Meanings } from '@sluice/discovery';

const tools = [
  { name: 'get_forecast', description: 'Rain and sun of the days to come', parameters: null },
  { name: 'weather_station_admin', description: 'Edits weather stations', parameters: null },
  { name: 'send_mail', description: 'Sends a letter', parameters: null },
];

/** Of two directions: what is about rain, and all else. */
function embedder(wait: () => Promise<void> = () => Promise.resolve()) {
  const texts: string[] = [];
  const of: Embedder = {
    name: 'test/rain',
    embed: async (asked) => {
      texts.push(...asked);
      await wait();
      return asked.map((text) => (/rain|umbrella/i.test(text) ? Float32Array.of(1, 0) : Float32Array.of(0, 1)));
    },
  };
  return { texts, of: () => Promise.resolve(of) };
}

const asked = { recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() };

describe('the strategy hybrid', () => {
  const query = 'Shall I take an umbrella, or is the weather fine?';

  it('finds by meaning what shares no word with the question, and by words without vectors', async () => {
    const { of } = embedder();
    const closeness = await new Meanings(() => 0).closeness(of, tools, query, 1_000);
    const counts = { minTools: 1, maxTools: 1, targetRatio: 1 };
    const chosen = (known: object) =>
      chooseTools('hybrid', tools, { query, ...asked }, counts, undefined, known).kept.map((at) => tools[at]?.name);
    expect(chosen({ closeness })).toEqual(['get_forecast']);
    expect(chosen({ closeness: null })).toEqual(['weather_station_admin']);
  });

  it('embeds a tool once, and does not wait beyond its time', async () => {
    let release: () => void = () => undefined;
    const { texts, of } = embedder(() => new Promise((resolve) => (release = resolve)));
    const meanings = new Meanings(() => 0);
    expect(await meanings.closeness(of, tools, query, 1)).toBeNull();
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await meanings.closeness(of, tools, query, 1_000)).toEqual([1, 0, 0]);
    expect(texts).toHaveLength(4);
  });

  const many = Array.from(
    { length: 20 },
    (_, at) => ({ ...tools[0], name: `tool_${String(at)}`, parameters: null }) as never,
  );
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('does not wait for the vectors of a list that is new, and has them for the next request', async () => {
    let release: () => void = () => undefined;
    const { texts, of } = embedder(() => new Promise((resolve) => (release = resolve)));
    const meanings = new Meanings(() => 0);
    // With a limit of hours: a request that waited would not come back.
    const first = await meanings.atOnce(of, many, query, 9_999_999);
    expect(first).toEqual({ way: 'preparing', closeness: null });
    await settled();
    expect(texts).toHaveLength(20);
    release();
    await settled();
    const second = meanings.atOnce(of, many, query, 9_999_999);
    await settled();
    release();
    expect(await second).toEqual({ way: 'used', closeness: many.map(() => 1) });
    expect(texts).toHaveLength(21);
  });

  it('waits for as many vectors as the model was quick enough for of late, and for few', async () => {
    let now = 0;
    const { of } = embedder(() => {
      now += 100;
      return Promise.resolve();
    });
    const meanings = new Meanings(() => now);
    expect((await meanings.atOnce(of, tools, query, 1_000)).way).toBe('used');
    // 25 ms a text: 20 take 500.
    const renamed = (name: string): never[] =>
      many.map((one: object) => ({ ...one, name: name + String(Math.random()) }) as never);
    expect((await meanings.atOnce(of, renamed('a'), query, 900)).way).toBe('preparing');
    await settled();
    expect((await meanings.atOnce(of, renamed('b'), query, 2_000)).way).toBe('used');
  });

  it('says why words alone decided', async () => {
    let now = 0;
    const meanings = new Meanings(() => now);
    const failing = () => Promise.reject(new Error('no model'));
    expect(await meanings.atOnce(failing, tools, query, 1_000)).toMatchObject({
      way: 'failed',
      error: { message: 'no model' },
    });
    expect(await meanings.atOnce(embedder().of, tools, query, 1_000)).toEqual({ way: 'failed', closeness: null });
    now = 31_000;
    const endless = embedder(() => new Promise(() => undefined));
    expect((await meanings.atOnce(endless.of, tools, query, 1)).way).toBe('late');
    const list = Array.from({ length: 5_001 }, () => tools[0] as never);
    expect((await meanings.atOnce(embedder().of, list, query, 1_000)).way).toBe('too_many_tools');
  });

  it('reports once why a model failed that no request waited for', async () => {
    const meanings = new Meanings(() => 0);
    const loading = Promise.withResolvers<Embedder>();
    const failing = (): Promise<Embedder> => loading.promise;
    expect((await meanings.atOnce(failing, tools, query, 1_000)).way).toBe('preparing');
    loading.reject(new Error('no package'));
    await new Promise((resolve) => setImmediate(resolve));
    const next = await meanings.atOnce(failing, tools, query, 1_000);
    expect(next).toMatchObject({ way: 'failed', error: { message: 'no package' } });
    expect(await meanings.atOnce(failing, tools, query, 1_000)).toEqual({ way: 'failed', closeness: null });
  });

  it('leaves a model alone for a while that failed', async () => {
    let now = 0;
    const meanings = new Meanings(() => now);
    const failing = () => Promise.reject(new Error('no model'));
    await expect(meanings.closeness(failing, tools, query, 1_000)).rejects.toThrow('no model');
    expect(await meanings.closeness(failing, tools, query, 1_000)).toBeNull();
    now = 31_000;
    await expect(meanings.closeness(failing, tools, query, 1_000)).rejects.toThrow('no model');
  });

  it('goes by the first sentence of a description as well as by the whole', async () => {
    const { texts, of } = embedder();
    const long = { ...tools[2], description: `Carries an umbrella to you. ${'It has many settings. '.repeat(900)}` };
    await new Meanings(() => 0).closeness(of, [long as never], query, 1_000);
    expect(texts.slice(1).map((text) => text.length)).toEqual([1_000, 38]);
    expect(texts[2]).toBe('send mail: Carries an umbrella to you.');
  });

  it('joins both, each as a share of its best', () => {
    expect(fused([10, 5, 0], [0, 1, 0.5]).map((score) => Number(score.toFixed(3)))).toEqual([0.38, 0.81, 0.31]);
    expect(fused([0, 0], [0.5, 0])).toEqual([0.62, 0]);
    expect(fused([0, 0], [-0.5, -0.1])).toEqual([0, 0]);
  });
});

describe('what models called of late', () => {
  const documents = (): Documents => {
    const kept = new Map<string, StoredDocument>();
    return {
      find: (key) => Promise.resolve(kept.get(key)),
      put: (key, version, text, expiresAt) => {
        if ((kept.get(key)?.version ?? 0) !== version - 1) return Promise.resolve(false);
        kept.set(key, { version, text, expiresAt });
        return Promise.resolve(true);
      },
      sweep: () => Promise.resolve(),
    };
  };

  it('is kept by tenant, and counts half after a week', async () => {
    let now = 0;
    const store = new HabitStore(documents(), { now: () => now });
    await store.note('acme', ['a', 'b']);
    await store.note('acme', ['a']);
    now = 7 * 24 * 3_600_000;
    await store.note('acme', ['b']);
    expect(Object.fromEntries(await store.find('acme'))).toEqual({ a: 1, b: 1.5 });
    expect((await store.find('other')).size).toBe(0);
  });

  it('decides between tools that words do not tell apart, and not against words', () => {
    const counts = { minTools: 1, maxTools: 1, targetRatio: 1 };
    const habits = habitShares(
      new Map([['send_mail', 3]]),
      tools.map(({ name }) => name),
    );
    expect(habits).toEqual([0, 0, 1]);
    const kept = (query: string) =>
      chooseTools('ranked', tools, { query, ...asked }, counts, undefined, { habits }).kept;
    expect(kept('Please do it')).toEqual([2]);
    expect(kept('the weather')).toEqual([1]);
  });
});
