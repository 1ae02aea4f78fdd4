import { describe, expect, it } from '@jest/globals';
import type { DocumentedLedger } from '@sluice/ledger';

/** What every store of documents must do. `open` gives a ledger of the test’s own, and a second connection to it. */
export function documentsContract(
  name: string,
  open: () => Promise<{ readonly ledger: DocumentedLedger; readonly other: DocumentedLedger; close(): Promise<void> }>,
): void {
  const onBoth = (work: (ledger: DocumentedLedger, other: DocumentedLedger) => Promise<void>) => async () => {
    const { ledger, other, close } = await open();
    try {
      await work(ledger, other);
    } finally {
      await close();
    }
  };

  describe(`${name}: the documents contract`, () => {
    it(
      'keeps the last version, for every process',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        expect(await documents.find('k')).toBeUndefined();
        expect(await documents.put('k', 1, 'first', null)).toBe(true);
        expect(await elsewhere.find('k')).toEqual({ version: 1, text: 'first', expiresAt: null });
        expect(await elsewhere.put('k', 2, 'second', null)).toBe(true);
        expect(await documents.find('k')).toEqual({ version: 2, text: 'second', expiresAt: null });
        expect(await documents.find('K')).toBeUndefined();
        expect(await documents.put('\ud800', 1, 'half', null)).toBe(true);
        expect(await elsewhere.find('\ud800')).toMatchObject({ text: 'half' });
        expect(await elsewhere.find('\udbff')).toBeUndefined();
      }),
    );

    it(
      'takes a version only behind the one before it',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        expect(await documents.put('k', 2, 'too early', null)).toBe(false);
        expect(await documents.find('k')).toBeUndefined();
        expect(await documents.put('k', 1, 'first', null)).toBe(true);
        expect(await elsewhere.put('k', 1, 'another first', null)).toBe(false);
        expect(await elsewhere.put('k', 3, 'too early', null)).toBe(false);
        expect(await documents.put('k', 2, 'second', null)).toBe(true);
        expect(await elsewhere.put('k', 2, 'too late', null)).toBe(false);
        expect(await elsewhere.find('k')).toEqual({ version: 2, text: 'second', expiresAt: null });
      }),
    );

    it(
      'takes the same version with the same text again, which changes nothing',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        await documents.put('k', 1, 'first', null);
        expect(await elsewhere.put('k', 1, 'first', null)).toBe(true);
        expect(await documents.find('k')).toEqual({ version: 1, text: 'first', expiresAt: null });
      }),
    );

    it(
      'has one winner among many who write at once',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        for (let version = 1; version <= 5; version++) {
          const asked = Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? documents : elsewhere).put('k', version, `by ${index}`, null),
          );
          const won = (await Promise.all(asked)).flatMap((written, index) => (written ? [`by ${index}`] : []));
          expect(won).toHaveLength(1);
          expect(await documents.find('k')).toEqual({ version, text: won[0], expiresAt: null });
        }
      }),
    );

    it(
      'keeps long texts and strange keys apart',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        const keys = ['', ' ', 'k', 'K', 'k\0', 'ü', 'u\u0308', 'x'.repeat(5_000), 'x'.repeat(5_001)];
        const text = (key: string): string => JSON.stringify([key, '東京 🙂 \0'.repeat(20_000)]);
        for (const key of keys) expect(await documents.put(key, 1, text(key), null)).toBe(true);
        for (const key of keys)
          expect(await elsewhere.find(key)).toEqual({ version: 1, text: text(key), expiresAt: null });
      }),
    );

    it(
      'keeps a document until it may go and a sweep comes; written again, as long as was said last',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        for (const [key, expiresAt] of [
          ['gone', 1_000],
          ['late', 1_001],
          ['kept', null],
          ['prolonged', 500],
          ['again', 500],
        ] as const)
          expect(await documents.put(key, 1, 'text', expiresAt)).toBe(true);
        expect(await elsewhere.put('prolonged', 1, 'text', 2_000)).toBe(true);
        expect(await elsewhere.put('again', 2, 'more', null)).toBe(true);
        await elsewhere.sweep(499);
        expect(await documents.find('gone')).toEqual({ version: 1, text: 'text', expiresAt: 1_000 });
        await elsewhere.sweep(1_000);
        expect(await documents.find('gone')).toBeUndefined();
        expect(await documents.find('late')).toEqual({ version: 1, text: 'text', expiresAt: 1_001 });
        expect(await documents.find('kept')).toEqual({ version: 1, text: 'text', expiresAt: null });
        expect(await documents.find('prolonged')).toEqual({ version: 1, text: 'text', expiresAt: 2_000 });
        expect(await documents.find('again')).toEqual({ version: 2, text: 'more', expiresAt: null });
        expect(await documents.put('gone', 2, 'next', null)).toBe(false);
        expect(await documents.put('gone', 1, 'anew', null)).toBe(true);
      }),
    );

    it(
      'sweeps any number of documents at once',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        const keys = Array.from({ length: 2_500 }, (_, n) => `k${n}`);
        await Promise.all(keys.map((key) => documents.put(key, 1, '', 1)));
        await Promise.all([documents.sweep(1), elsewhere.sweep(1)]);
        await documents.sweep(1);
        const left = await Promise.all(keys.map((key) => documents.find(key)));
        expect(left.filter((each) => each !== undefined)).toEqual([]);
      }),
    );

    it(
      'counts those under a prefix that may not go yet, and names those that may go first',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        expect(await documents.tally('a/', 0, 5)).toEqual({ count: 0, first: [] });
        await documents.put('a/late', 1, '', 3_000);
        await documents.put('a/kept', 1, '', null);
        await documents.put('a/soon', 1, '', 1_000);
        await documents.put('a/past', 1, '', 500);
        for (const other of ['a', 'A/x', 'a0', 'b/x', '']) await documents.put(other, 1, '', 2_000);
        expect(await elsewhere.tally('a/', 500, 2)).toEqual({ count: 3, first: ['a/soon', 'a/late'] });
        expect(await elsewhere.tally('a/', 1_000, 9)).toEqual({ count: 2, first: ['a/late', 'a/kept'] });
        expect((await elsewhere.tally('a', 500, 0)).count).toBe(5);
      }),
    );

    it(
      'is closed with the ledger, and says so',
      onBoth(async (ledger) => {
        await ledger.close();
        const closed = { code: 'ledger_unreachable', message: expect.stringMatching(/closed/) };
        await expect(ledger.documents.find('k')).rejects.toMatchObject(closed);
        await expect(ledger.documents.put('k', 1, '', null)).rejects.toMatchObject(closed);
        await expect(ledger.documents.tally('k', 0, 1)).rejects.toMatchObject(closed);
        await expect(ledger.documents.sweep(0)).rejects.toMatchObject(closed);
      }),
    );
  });
}
