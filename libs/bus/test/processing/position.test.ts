import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Position } from '../../src/processing/position.js';

const size = 40;
const span = fc
  .tuple(fc.nat(size - 1), fc.integer({ min: 1, max: 6 }))
  .map(([first, length]) => ({ first, past: first + length }));

/** What the table beside the log would hold after the saves. */
function save(position: Position, table: Map<number, number>): void {
  for (const { first, past } of position.changes()) {
    if (past === null) table.delete(first);
    else table.set(first, past);
  }
  position.saved();
}

function restored(prefix: number, table: ReadonlyMap<number, number>): Position {
  const position = new Position(prefix);
  for (const [first, past] of table) position.finish(first, past);
  position.saved();
  return position;
}

describe('what of a partition is finished', () => {
  it('is the same as a set of offsets, whatever is finished in whatever order, and after a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(span, fc.boolean()), { maxLength: 40 }), (steps) => {
        const model = new Set<number>();
        const table = new Map<number, number>();
        let position = new Position(0);
        for (const [{ first, past }, isRestarted] of steps) {
          position.finish(first, past);
          for (let offset = first; offset < past; offset++) model.add(offset);
          let prefix = 0;
          while (model.has(prefix)) prefix++;
          expect(position.prefix).toBe(prefix);
          const below = [...model].filter((offset) => offset < size).length;
          expect(position.unfinishedBelow(size)).toBe(size - below);
          save(position, table);
          if (isRestarted) position = restored(position.prefix, table);
          for (let offset = 0; offset < size + 8; offset++) {
            let next = offset;
            while (model.has(next)) next++;
            expect(position.unfinishedFrom(offset)).toBe(next);
          }
          const beyond = [...table].flatMap(([from, to]) =>
            Array.from({ length: to - from }, (_, index) => from + index),
          );
          expect(beyond.sort((a, b) => a - b)).toEqual(
            [...model].filter((offset) => offset >= prefix).sort((a, b) => a - b),
          );
        }
      }),
    );
  });

  it('takes no room for what finishes behind a stuck record', () => {
    const position = new Position(0);
    for (let offset = 1; offset < 1_000; offset++) position.finish(offset, offset + 1);
    expect(position.changes().filter(({ past }) => past !== null)).toEqual([{ first: 1, past: 1_000 }]);
    position.finish(0, 1);
    expect(position.prefix).toBe(1_000);
  });

  it('has nothing to save when nothing changed', () => {
    const position = new Position(5);
    position.finish(7, 8);
    position.saved();
    position.finish(2, 5);
    expect(position.changes()).toEqual([]);
    expect(position.prefix).toBe(5);
  });
});
