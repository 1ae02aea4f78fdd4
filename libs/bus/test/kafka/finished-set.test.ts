import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maxCarriedBytes } from '@sluice/bus';
import {
  decodeCarried,
  decodeFinished,
  decodeWriter,
  encodeCarried,
  encodeFinished,
  encodeWriter,
  isWithinLimit,
  metadataLimit,
  reservedForCarried,
  writerLength,
} from '../../src/kafka/commit/finished-set.js';
import type { Range } from '../../src/kafka/commit/finished-set.js';

/** Ranges beyond a prefix, given by the lengths of what is unfinished and finished in turn. */
function rangesOf(prefix: number, lengths: readonly (readonly [number, number])[]): readonly Range[] {
  let at = prefix;
  return lengths.map(([unfinished, finished]) => {
    const first = at + unfinished;
    at = first + finished;
    return { first, past: at };
  });
}

const lengths = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }));

describe('point 9 of the recipe: what is finished beyond the prefix, in 4,096 bytes of metadata', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 50), fc.array(lengths, { maxLength: 200 }), (prefix, pairs) => {
        const ranges = rangesOf(prefix, pairs);
        expect(decodeFinished(prefix, encodeFinished(prefix, ranges))).toEqual(ranges);
      }),
    );
  });

  it('is nothing for nothing, for no metadata and for another application’s', () => {
    expect(encodeFinished(7, [])).toBe('');
    for (const text of ['', null, 'client-1', '{"a":1}']) expect(decodeFinished(7, text)).toEqual([]);
  });

  it('is the shorter of bitmap and run lengths', () => {
    const every = (step: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ first: 1 + step * index, past: 2 + step * index }));
    expect(encodeFinished(0, every(2, 8_000))).toHaveLength(1 + Math.ceil((16_000 / 8 / 3) * 4));
    expect(encodeFinished(0, [{ first: 1, past: 1_000_000 }])).toHaveLength(1 + 6);
  });

  it('fits whatever of the records taken finishes first, if there was room for them', () => {
    const finish = fc.record({
      unfinished: fc.integer({ min: 1, max: 1_500 }),
      gap: fc.integer({ min: 1, max: 40_000 }),
    });
    fc.assert(
      fc.property(finish, ({ unfinished, gap }) => {
        // The worst that can be: each unfinished record is alone between finished ones.
        const ranges = rangesOf(
          0,
          Array.from({ length: unfinished }, () => [1, gap] as const),
        );
        const span = ranges.at(-1)?.past ?? 0;
        const bytes = Buffer.byteLength(encodeFinished(0, ranges) + encodeWriter('w'.repeat(writerLength)));
        return !isWithinLimit(span, unfinished) || bytes <= metadataLimit;
      }),
      { numRuns: 300 },
    );
  });

  it('has room for 24,488 offsets in any order, and for millions with few unfinished', () => {
    expect(isWithinLimit(24_488, 24_488)).toBe(true);
    expect(isWithinLimit(24_489, 24_488)).toBe(false);
    expect(isWithinLimit(2_000_000, 500)).toBe(true);
    expect(isWithinLimit(2_000_000, 600)).toBe(false);
  });
});

describe('what a partition carries, in the same metadata', () => {
  const largest = 'é'.repeat(maxCarriedBytes / 2);

  it.each(['', 'a', '.b.r', largest])(
    'stands beside the finished set, and each is read without the other: %#',
    (carried) => {
      for (const ranges of [
        [],
        [{ first: 12, past: 14 }],
        Array.from({ length: 90 }, (_, n) => ({ first: 11 + 2 * n, past: 12 + 2 * n })),
      ]) {
        for (const writer of [undefined, '-_Az09-_Az09']) {
          const signature = writer === undefined ? '' : encodeWriter(writer);
          const metadata = encodeFinished(10, ranges) + encodeCarried(carried) + signature;
          expect(decodeFinished(10, metadata)).toEqual(ranges);
          expect(decodeCarried(metadata)).toBe(carried);
          expect(decodeWriter(metadata)).toBe(writer);
        }
      }
    },
  );

  it('is read with its writer behind another character, as it was written for a while', () => {
    const metadata = encodeFinished(10, [{ first: 12, past: 14 }]) + encodeCarried('head') + '~-_Az09-_Az09';
    expect(decodeFinished(10, metadata)).toEqual([{ first: 12, past: 14 }]);
    expect(decodeCarried(metadata)).toBe('head');
    expect(decodeWriter(metadata)).toBe('-_Az09-_Az09');
  });

  /** As versions before there were writers decode it: how it is encoded, what is finished, and what is carried. */
  const beforeWriters = (metadata: string) => {
    const [finished = '', carried = ''] = metadata.split('.', 2);
    const form = /^[rb]/.exec(finished)?.[0];
    const bytes = form === undefined ? [] : [...Buffer.from(finished.slice(1), 'base64url')];
    return { form, bytes, carried: Buffer.from(carried, 'base64url').toString() };
  };

  it('means the same to versions that know no writer', () => {
    const writer = encodeWriter('-_Az09-_Az09');
    fc.assert(
      fc.property(fc.array(lengths, { maxLength: 40 }), fc.string(), (pairs, carried) => {
        const metadata = encodeFinished(10, rangesOf(10, pairs)) + encodeCarried(carried);
        expect(beforeWriters(metadata + writer)).toEqual(beforeWriters(metadata));
        expect(beforeWriters(metadata).carried).toBe(Buffer.from(carried).toString());
      }),
    );
  });

  it('always has room: a finished set leaves what is reserved', () => {
    expect(encodeCarried(largest).length).toBeLessThanOrEqual(reservedForCarried);
    expect(isWithinLimit(8 * 2_030, 2_030, reservedForCarried)).toBe(true);
    expect(isWithinLimit(8 * 2_100, 2_100, reservedForCarried)).toBe(false);
    expect(isWithinLimit(8 * 2_100, 2_100)).toBe(true);
    const bitmap = Array.from({ length: 8_119 }, (_, n) => ({ first: 2 * n + 1, past: 2 * n + 2 }));
    const signature = encodeWriter('w'.repeat(writerLength));
    const metadata = encodeFinished(0, bitmap) + encodeCarried(largest) + signature;
    expect(metadata.length).toBeLessThanOrEqual(metadataLimit);
  });

  it('is none in what another application put there', () => {
    for (const metadata of [null, '', 'b', 'nonsense']) {
      expect(decodeCarried(metadata)).toBe('');
      expect(decodeWriter(metadata)).toBeUndefined();
    }
  });
});
