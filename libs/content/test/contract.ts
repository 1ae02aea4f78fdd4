import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ContentRef, ContentStore, OpenContent } from '@sluice/core';
import { readContentKeys } from '@sluice/content';
import type { StoreOptions } from '@sluice/content';

/** A place of a test's own. */
export interface ContentPlace {
  /** A store on it, as another process has it. */
  open(options: StoreOptions): Promise<ContentStore>;
  /** All bytes that lie there, whatever they are. */
  everything(): Promise<Buffer>;
  /** Flips a bit of the stored bytes of the only content that is there. */
  damage(): Promise<void>;
  /** Removes it. */
  release(): Promise<void>;
}

const [former, next] = ['11'.repeat(32), '22'.repeat(32)];
const hour = 3_600_000;
const day = 24 * hour;
const owner = { tenantId: 'acme', runId: 'run-1' };
const longest = 3_000_000;

/** What every content store must do, sealed and in the clear. Knows no implementation; the time is passed in. */
export function contentContract(name: string, placeOf: () => Promise<ContentPlace>): void {
  describe.each([
    ['in the clear', ''],
    ['sealed', former],
  ])(`${name}, %s: the content contract`, (_, keys) => {
    const time = { now: 1_000_000 * hour };
    const optionsWith = (text: string): StoreOptions => ({
      clock: { now: () => time.now },
      keys: text === '' ? [] : readContentKeys(text),
      maxBytes: longest,
    });
    const onPlace = (work: (place: ContentPlace, store: ContentStore) => Promise<void>) => async () => {
      const place = await placeOf();
      const store = await place.open(optionsWith(keys));
      try {
        await work(place, store);
      } finally {
        await store.close();
        await place.release();
      }
    };
    const onStore = (work: (store: ContentStore, place: ContentPlace) => Promise<void>) =>
      onPlace((place, store) => work(store, place));

    it(
      'gives back what was written, with its type and size, to any process',
      onStore(async (store, place) => {
        const put = await store.put(owner, 'image/png', Buffer.from('a picture'), null);
        expect(put).toMatchObject({ type: 'image/png', size: 9, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
        const other = await place.open(optionsWith(keys));
        const found = await other.open(owner, put.hash);
        expect(found).toMatchObject({ type: 'image/png', size: 9, writtenAt: time.now, expiresAt: null });
        expect((await all(other, owner, put.hash)).toString()).toBe('a picture');
        await other.close();
      }),
    );

    it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 2_500_000])(
      'keeps %i bytes that come in pieces of any length',
      async (size) =>
        onStore(async (store) => {
          const bytes = randomBytes(size);
          async function* pieces(): AsyncIterable<Uint8Array> {
            for (let at = 0, n = 1; at < size; at += n, n = (n * 7 + 1) % 100_000)
              yield await Promise.resolve(bytes.subarray(at, at + n));
          }
          const { hash } = await store.put(owner, 'application/pdf', pieces(), null);
          expect((await store.put(owner, 'application/pdf', bytes, null)).hash).toBe(hash);
          expect((await all(store, owner, hash)).equals(bytes)).toBe(true);
          expect(await store.list(owner)).toHaveLength(1);
        })(),
    );

    it(
      'refuses what is longer than the limit, and keeps nothing of it',
      onStore(async (store) => {
        async function* endless(): AsyncIterable<Uint8Array> {
          for (;;) yield await Promise.resolve(Buffer.alloc(100_000));
        }
        await expect(store.put(owner, 'text/plain', endless(), null)).rejects.toThrow(`${longest} bytes`);
        await expect(store.put(owner, 'text/plain', Buffer.alloc(longest + 1), null)).rejects.toThrow('limit');
        expect(await store.list(owner)).toEqual([]);
      }),
    );

    it(
      'keeps nothing where the source fails, and passes its error on',
      onStore(async (store) => {
        async function* failing(): AsyncIterable<Uint8Array> {
          yield await Promise.resolve(Buffer.alloc(500_000));
          throw new Error('the source broke');
        }
        await expect(store.put(owner, 'text/plain', failing(), null)).rejects.toThrow('the source broke');
        expect(await store.list(owner)).toEqual([]);
      }),
    );

    it(
      'gives content to the run that wrote it and to no other, and tenants different hashes',
      onStore(async (store) => {
        const stranger = { tenantId: 'other', runId: owner.runId };
        const sibling = { tenantId: owner.tenantId, runId: 'run-2' };
        const { hash } = await store.put(owner, 'text/plain', Buffer.from('the same'), null);
        expect(await store.open(stranger, hash)).toBeUndefined();
        expect(await store.open(sibling, hash)).toBeUndefined();
        expect((await store.put(stranger, 'text/plain', Buffer.from('the same'), null)).hash).not.toBe(hash);
        expect((await store.put(sibling, 'text/plain', Buffer.from('the same'), null)).hash).toBe(hash);
        await store.remove(owner);
        expect(await store.open(owner, hash)).toBeUndefined();
        expect(await store.list(sibling)).toHaveLength(1);
      }),
    );

    it(
      'takes any text as a name of a tenant or run, and none as a way out of its place',
      onStore(async (store) => {
        const odd = { tenantId: '../..\u0000\ud800', runId: '/etc/“passwd”\n' };
        const { hash } = await store.put(odd, 'no type\r\nx: y', Buffer.from('x'), null);
        expect(await store.list(odd)).toMatchObject([{ hash, type: 'application/octet-stream' }]);
        for (const name of ['', '../key', 'key', hash.toUpperCase(), `${hash}/../${hash}`])
          expect(await store.open(odd, name)).toBeUndefined();
      }),
    );

    it(
      'finds that content is not what was written',
      onPlace(async (place, store) => {
        const { hash } = await store.put(owner, 'text/plain', Buffer.alloc(200_000, 'x'), null);
        await place.damage();
        await expect(all(store, owner, hash)).rejects.toMatchObject({ code: 'content_corrupt' });
      }),
    );

    it(
      'lets what has expired go, and nothing before',
      onStore(async (store) => {
        const { hash } = await store.put(owner, 'text/plain', Buffer.from('x'), time.now + 3 * day);
        const lasting = await store.put(owner, 'text/plain', Buffer.from('y'), null);
        for (const [later, expired] of [
          [2, 0],
          [1, 1],
          [1, 0],
        ] as const) {
          time.now += later * day;
          expect(await store.sweep(allNamed)).toEqual({ expired, unnamed: 0 });
        }
        expect(await store.open(owner, hash)).toBeUndefined();
        expect(await store.list(owner)).toMatchObject([{ hash: lasting.hash }]);
      }),
    );

    it(
      'does not give what has expired, swept or not',
      onStore(async (store) => {
        const { hash } = await store.put(owner, 'text/plain', Buffer.from('x'), time.now + hour);
        time.now += hour;
        expect(await store.open(owner, hash)).toBeUndefined();
        expect(await store.list(owner)).toEqual([]);
      }),
    );

    it(
      'removes what no record names a day after it was written, and asks once about what one names',
      onStore(async (store) => {
        const named = await store.put(owner, 'text/plain', Buffer.from('named'), null);
        const lost = await store.put(owner, 'text/plain', Buffer.from('lost'), null);
        const asked: ContentRef[] = [];
        const areNamed = (refs: readonly ContentRef[]) => {
          asked.push(...refs);
          return Promise.resolve(refs.map(({ hash }) => hash === named.hash));
        };
        time.now += day - 1;
        expect(await store.sweep(areNamed)).toEqual({ expired: 0, unnamed: 0 });
        time.now += 1;
        expect(await store.sweep(areNamed)).toEqual({ expired: 0, unnamed: 1 });
        expect(asked.map(({ hash }) => hash).sort()).toEqual([named.hash, lost.hash].sort());
        expect(asked[0]).toMatchObject(owner);
        time.now += 100 * day;
        expect(await store.sweep(() => Promise.reject(new Error('asked again')))).toEqual({ expired: 0, unnamed: 0 });
        expect(await store.list(owner)).toMatchObject([{ hash: named.hash }]);
      }),
    );

    it(
      'leaves what was written again meanwhile, as a call does that is repeated after a crash',
      onStore(async (store) => {
        await store.put(owner, 'text/plain', Buffer.from('x'), null);
        time.now += day - hour;
        const { hash } = await store.put(owner, 'text/plain', Buffer.from('x'), null);
        time.now += hour;
        expect(await store.sweep(noneNamed)).toEqual({ expired: 0, unnamed: 0 });
        expect((await all(store, owner, hash)).toString()).toBe('x');
      }),
    );

    it(
      'that was written again is looked for in records since it was written first',
      onStore(async (store) => {
        const first = time.now;
        await store.put(owner, 'text/plain', Buffer.from('x'), null);
        for (let again = 0; again < 2; again++) {
          time.now += hour;
          await store.put(owner, 'text/plain', Buffer.from('x'), null);
        }
        time.now += day;
        const since: number[] = [];
        await store.sweep((written) => {
          since.push(...written.map(({ writtenAt }) => writtenAt));
          return allNamed(written);
        });
        expect(new Set(since)).toEqual(new Set([first]));
      }),
    );

    it(
      'removes what is over within a day as soon as it is, and asks for no records',
      onStore(async (store) => {
        await store.put(owner, 'text/plain', Buffer.from('x'), time.now + hour);
        time.now += hour;
        expect(await store.sweep(() => Promise.reject(new Error('asked')))).toEqual({ expired: 1, unnamed: 0 });
      }),
    );

    it(
      'ends a sweep where it is when it is to stop',
      onStore(async (store) => {
        for (let n = 0; n < 3; n++) await store.put(owner, 'text/plain', Buffer.from(`${n}`), null);
        time.now += day;
        const stop = new AbortController();
        const stopping = (written: readonly ContentRef[]) => {
          stop.abort(new Error('stopped'));
          return noneNamed(written);
        };
        await expect(store.sweep(stopping, stop.signal)).rejects.toThrow('stopped');
        expect(await store.list(owner)).toHaveLength(3);
      }),
    );

    it(
      'gives what is written again while it is read',
      onStore(async (store) => {
        const bytes = randomBytes(600_000);
        const put = () => {
          time.now++;
          return store.put(owner, 'image/png', bytes, null);
        };
        const { hash } = await put();
        const found = await store.open(owner, hash);
        await put();
        const pieces: Uint8Array[] = [];
        for await (const piece of found?.bytes() ?? []) {
          pieces.push(piece);
          if (pieces.length === 1) await put();
        }
        expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      }),
    );

    it(
      'does not call damaged what is removed before it is read',
      onStore(async (store) => {
        const { hash } = await store.put(owner, 'image/png', Buffer.alloc(600_000), null);
        const found = await store.open(owner, hash);
        await store.remove(owner);
        await expect(read(found as OpenContent)).rejects.toMatchObject({ code: 'content_unreachable' });
      }),
    );

    it(
      'removes nothing where it cannot be found out what is named, and goes on later',
      onStore(async (store) => {
        for (let n = 0; n < 103; n++) await store.put(owner, 'text/plain', Buffer.from(`${n}`), null);
        time.now += day;
        await expect(store.sweep(() => Promise.reject(new Error('no lists')))).rejects.toThrow('no lists');
        expect(await store.list(owner)).toHaveLength(103);
        expect(await store.sweep(noneNamed)).toEqual({ expired: 0, unnamed: 103 });
        expect(await store.list(owner)).toEqual([]);
      }),
    );

    it(
      'is written by many at once, the same and other content',
      onStore(async (store, place) => {
        const other = await place.open(optionsWith(keys));
        const texts = Array.from({ length: 24 }, (_, n) => `content ${n % 6}`);
        await Promise.all(
          texts.map((text, n) => (n % 2 === 0 ? store : other).put(owner, 'text/plain', Buffer.from(text), null)),
        );
        const there = await store.list(owner);
        expect(there).toHaveLength(6);
        const read = await Promise.all(there.map(async ({ hash }) => (await all(other, owner, hash)).toString()));
        expect(read.sort()).toEqual(texts.slice(0, 6));
        await other.close();
      }),
    );

    it(
      'says that it can be written',
      onStore((store) => store.check()),
    );

    if (keys !== '') {
      it(
        'has nothing of content in the clear',
        onPlace(async (place, store) => {
          await store.put(owner, 'text/plain', Buffer.from('a very secret sentence'), null);
          expect((await place.everything()).includes('secret sentence')).toBe(false);
        }),
      );

      it(
        'seals with the first key and opens with any; without its key it says which one is missing',
        onPlace(async (place, store) => {
          const { hash } = await store.put(owner, 'text/plain', Buffer.from('old'), null);
          const rotated = await place.open(optionsWith(`${next}\n${former}`));
          expect((await all(rotated, owner, hash)).toString()).toBe('old');
          const young = await rotated.put(owner, 'text/plain', Buffer.from('young'), null);
          const onlyNext = await place.open(optionsWith(next));
          expect((await all(onlyNext, owner, young.hash)).toString()).toBe('young');
          await expect(all(onlyNext, owner, hash)).rejects.toThrow(/sealed with the key [0-9a-f]{16}/);
          await Promise.all([rotated.close(), onlyNext.close()]);
        }),
      );
    }
  });
}

async function all(store: ContentStore, of: typeof owner, hash: string): Promise<Buffer> {
  const found = await store.open(of, hash);
  if (found === undefined) throw new Error(`There is no content ${hash}.`);
  return read(found);
}

/** All bytes of content that was opened. */
export async function read(content: OpenContent): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of content.bytes()) pieces.push(bytes);
  return Buffer.concat(pieces);
}

function allNamed(refs: readonly ContentRef[]): Promise<readonly boolean[]> {
  return Promise.resolve(refs.map(() => true));
}

function noneNamed(refs: readonly ContentRef[]): Promise<readonly boolean[]> {
  return Promise.resolve(refs.map(() => false));
}
