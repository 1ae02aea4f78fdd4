import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Documents } from '@sluice/core';
import { DiscoverySessions } from '@sluice/discovery';
import fc from 'fast-check';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const clock = { now: () => 1_000 };

function documentsWith(put: Documents['put'] | null = null) {
  const stored = new Map<string, { version: number; text: string; expiresAt: number | null }>();
  const documents: Documents = {
    find: (key) => Promise.resolve(stored.get(key)),
    put:
      put ??
      ((key, version, text, expiresAt) => {
        if ((stored.get(key)?.version ?? 0) >= version) return Promise.resolve(false);
        stored.set(key, { version, text, expiresAt });
        return Promise.resolve(true);
      }),
    sweep: () => Promise.resolve(),
  };
  return { documents, stored };
}

const tool = (name: string, raw = JSON.stringify({ name })) => ({ name, wire: 'openai-chat', raw });

describe('sessions of discovery', () => {
  it('fail by themselves where they cannot be written, each of them and no other', async () => {
    const { documents } = documentsWith((key) =>
      key.endsWith('/odd') ? Promise.reject(new Error(`${key} failed`)) : Promise.resolve(true),
    );
    const sessions = new DiscoverySessions(documents, clock, digest);
    const keys = Array.from({ length: 100 }, (_, at) => `discovery/t/u${String(at)}/${at % 2 === 0 ? 'even' : 'odd'}`);
    // A rejection that no code handles would end the test.
    const noted = await Promise.allSettled(keys.map((key) => sessions.noteSoon(key, { expanded: ['a'] })));
    expect(noted.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : null))).toEqual(
      keys.map((key) => (key.endsWith('/odd') ? `${key} failed` : null)),
    );
  });

  it('give back every definition to the character, whatever stands in it', async () => {
    const texts = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ name: texts, raw: texts }), { minLength: 1 }), async (given) => {
        const { documents } = documentsWith();
        const list = given.map(({ name, raw }, at) => tool(`${name} ${String(at)}`, raw));
        await new DiscoverySessions(documents, clock, digest).note('discovery/t/u/s', { tools: list, shown: [0] });
        const { deferred } = await new DiscoverySessions(documents, clock, digest).find('discovery/t/u/s');
        expect(deferred).toEqual(list.slice(1));
      }),
      { numRuns: 50 },
    );
  });

  it('read a list that a former version stored tool by tool, and none of what is no list', async () => {
    const { documents, stored } = documentsWith();
    await new DiscoverySessions(documents, clock, digest).note('discovery/t/u/s', { tools: [tool('a'), tool('b')] });
    const [key = ''] = [...stored.keys()].filter((one) => one.includes('/lists/'));
    const found = async (text: string): Promise<readonly string[]> => {
      stored.set(key, { version: 1, text, expiresAt: null });
      const { deferred } = await new DiscoverySessions(documents, clock, digest).find('discovery/t/u/s');
      return deferred.map(({ name, raw }) => `${name}: ${raw}`);
    };
    expect(await found('[["c","openai-chat","{}"],["d","openai-chat","[]"]]')).toEqual(['c: {}', 'd: []']);
    const head = '"names":["c","d"],"wires":["openai-chat","openai-chat"],"lengths":[2,2]';
    expect(await found(`{${head},"text":"{}[]"}`)).toEqual(['c: {}', 'd: []']);
    expect(await found(`{${head}}\n{}[]`)).toEqual(['c: {}', 'd: []']);
    expect(await found('{"names":["c","d"],"wires":["openai-chat"],"lengths":[2,"x"]}\n{}[]')).toEqual(['c: {}']);
    for (const text of ['', 'null', '{"names":[]}', '{"names":7}']) expect(await found(text)).toEqual([]);
  });
});
