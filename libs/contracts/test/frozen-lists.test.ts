import { describe, expect, it } from '@jest/globals';
import { typeOf } from '../src/codec.js';

const hidden = { type: 'record', name: 'Hidden', fields: [{ name: 'key', type: 'string' }] } as const;
const schema = {
  type: 'record',
  name: 'Decision',
  fields: [{ name: 'hidden', type: { type: 'array', items: hidden } }],
} as const;
const list = (length: number, name = 'tool') => Array.from({ length }, (_, n) => ({ key: `${name} ${n}` }));

describe('a frozen list', () => {
  it.each([0, 1, 8, 300])('of %d has the bytes of one that is not, each time that it is written', (length) => {
    const type = typeOf(schema);
    const frozen = Object.freeze(list(length));
    const plain = type.toBuffer({ hidden: list(length) });
    for (let time = 0; time < 3; time++) expect(type.toBuffer({ hidden: frozen })).toEqual(plain);
    expect(type.fromBuffer(plain)).toEqual({ hidden: frozen });
  });

  it('is looked at twice: most are not written more often', () => {
    let looks = 0;
    const watched = {
      get key() {
        looks++;
        return 'a tool';
      },
    };
    const frozen = Object.freeze(Array<typeof watched>(8).fill(watched));
    const type = typeOf(schema);
    const first = type.toBuffer({ hidden: frozen });
    const once = looks;
    expect(type.toBuffer({ hidden: frozen })).toEqual(first);
    const then = looks;
    expect(then).toBe(2 * once);
    expect(type.toBuffer({ hidden: frozen })).toEqual(first);
    expect([then > 0, looks]).toEqual([true, then]);
  });

  it('is whole after there was no room for it', () => {
    const type = typeOf(schema);
    const frozen = Object.freeze(list(20));
    const plain = type.toBuffer({ hidden: list(20) });
    const short = Buffer.alloc(plain.length - 1);
    for (let time = 0; time < 2; time++) expect(type.encode({ hidden: frozen }, short, 0)).toBe(-1);
    const bytes = Buffer.alloc(plain.length);
    expect(type.encode({ hidden: frozen }, bytes, 0)).toBe(plain.length);
    expect(bytes).toEqual(plain);
    expect(type.encode({ hidden: frozen }, short, 0)).toBe(-1);
  });

  it('has the bytes that each type gives it', () => {
    const items = { ...hidden, fields: [{ name: 'key', type: ['null', 'string'] }] } as const;
    const types = [typeOf(schema), typeOf({ ...schema, fields: [{ name: 'hidden', type: { type: 'array', items } }] })];
    const frozen = Object.freeze(list(9));
    const plain = types.map((type) => type.toBuffer({ hidden: list(9) }));
    expect(plain[0]).not.toEqual(plain[1]);
    for (let time = 0; time < 4; time++) expect(types.map((type) => type.toBuffer({ hidden: frozen }))).toEqual(plain);
  });

  it('that does not fit its type is refused each time', () => {
    const frozen = Object.freeze([...list(8), { key: 8 }]);
    const type = typeOf(schema);
    for (let time = 0; time < 2; time++) expect(() => type.toBuffer({ hidden: frozen })).toThrow('8');
  });
});

it('a list that may still change is written as it is', () => {
  const type = typeOf(schema);
  const changing = list(12);
  const before = type.toBuffer({ hidden: changing });
  changing[3] = { key: 'another' };
  expect(type.toBuffer({ hidden: changing })).not.toEqual(before);
});
