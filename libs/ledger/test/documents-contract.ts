import { describe, expect, it } from '@jest/globals';
import type { DocumentedLedger } from '@sluice/ledger';

/** What every store of documents must do (ruling XB-18). `open` gives a ledger of the test’s own, and a second connection to it. */
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
        expect(await documents.put('k', 1, 'first')).toBe(true);
        expect(await elsewhere.find('k')).toEqual({ version: 1, text: 'first' });
        expect(await elsewhere.put('k', 2, 'second')).toBe(true);
        expect(await documents.find('k')).toEqual({ version: 2, text: 'second' });
        expect(await documents.find('K')).toBeUndefined();
      }),
    );

    it(
      'takes a version only behind the one before it',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        expect(await documents.put('k', 2, 'too early')).toBe(false);
        expect(await documents.find('k')).toBeUndefined();
        expect(await documents.put('k', 1, 'first')).toBe(true);
        expect(await elsewhere.put('k', 1, 'another first')).toBe(false);
        expect(await elsewhere.put('k', 3, 'too early')).toBe(false);
        expect(await documents.put('k', 2, 'second')).toBe(true);
        expect(await elsewhere.put('k', 2, 'too late')).toBe(false);
        expect(await elsewhere.find('k')).toEqual({ version: 2, text: 'second' });
      }),
    );

    it(
      'takes the same version with the same text again, which changes nothing',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        await documents.put('k', 1, 'first');
        expect(await elsewhere.put('k', 1, 'first')).toBe(true);
        expect(await documents.find('k')).toEqual({ version: 1, text: 'first' });
      }),
    );

    it(
      'has one winner among many who write at once',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        for (let version = 1; version <= 5; version++) {
          const asked = Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? documents : elsewhere).put('k', version, `by ${index}`),
          );
          const won = (await Promise.all(asked)).flatMap((written, index) => (written ? [`by ${index}`] : []));
          expect(won).toHaveLength(1);
          expect(await documents.find('k')).toEqual({ version, text: won[0] });
        }
      }),
    );

    it(
      'keeps long texts and strange keys apart',
      onBoth(async ({ documents }, { documents: elsewhere }) => {
        const keys = ['', ' ', 'k', 'K', 'k\0', 'ü', 'u\u0308', 'x'.repeat(5_000), 'x'.repeat(5_001)];
        const text = (key: string): string => JSON.stringify([key, '東京 🙂 \0'.repeat(20_000)]);
        for (const key of keys) expect(await documents.put(key, 1, text(key))).toBe(true);
        for (const key of keys) expect(await elsewhere.find(key)).toEqual({ version: 1, text: text(key) });
      }),
    );

    it(
      'is closed with the ledger, and says so',
      onBoth(async (ledger) => {
        await ledger.close();
        const closed = { code: 'ledger_unreachable', message: expect.stringMatching(/closed/) };
        await expect(ledger.documents.find('k')).rejects.toMatchObject(closed);
        await expect(ledger.documents.put('k', 1, '')).rejects.toMatchObject(closed);
      }),
    );
  });
}
