import { describe, expect, it } from '@jest/globals';
import { firstPage, jsonBytes, pageOf } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

const hash = '5f0c9a1be2d34c77'.repeat(4);
const nameOf = (value: JsonValue) => ({ hash, type: 'text/plain', size: jsonBytes(value, Infinity) });
const mostBytes = 32_768;

interface TextPage {
  readonly text: string;
  readonly next: { readonly from: number; readonly character?: number } | null;
}

/** All pages of a text, one after another. */
function read(text: string, most = mostBytes): readonly TextPage[] {
  const pages = [firstPage(text, nameOf(text), most) as unknown as TextPage];
  for (let page = pages[0]; page?.next; page = pages.at(-1)) {
    const { from, character = 1 } = page.next;
    pages.push(pageOf(text, nameOf(text), { path: '', from, character }, most) as unknown as TextPage);
  }
  return pages;
}

const at = (path: string, from: number | null = null, character = 1) => ({ path, from, character });

describe('a long text', () => {
  it.each([
    ['short lines', Array.from({ length: 9_000 }, (_, n) => `line ${n}`).join('\n')],
    ['one line', 'é"\u0001'.repeat(30_000)],
    ['characters outside of the first plane', `a${'😀'.repeat(40_000)}`],
    [
      'lines of all lengths and an empty end',
      Array.from({ length: 300 }, (_, n) => 'x'.repeat(n * 5)).join('\r\n') + '\n',
    ],
    ['line ends alone', '\n'.repeat(70_000)],
  ])('comes whole in pages that a record has room for: %s', (_, text) => {
    const pages = read(text);
    expect(pages.map((page) => page.text).join('')).toBe(text);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(jsonBytes(page, Infinity)).toBeLessThanOrEqual(mostBytes);
    for (const page of pages) expect(page.text.isWellFormed()).toBe(true);
  });

  it('has whole lines on a page, and says how many there are', () => {
    const text = Array.from({ length: 9_000 }, (_, n) => `line ${n}`).join('\n');
    const first = firstPage(text, nameOf(text), mostBytes) as unknown as TextPage & JsonObject;
    expect(first).toMatchObject({ content: hash.slice(0, 16), kind: 'text', lines: 9_000, from: 1 });
    expect(first.text.endsWith('\n')).toBe(true);
    const next = pageOf(text, nameOf(text), at('', first.next?.from), mostBytes) as unknown as TextPage;
    expect(next.text.startsWith(`line ${(first.next?.from ?? 0) - 1}\n`)).toBe(true);
  });

  it.each([
    [0, 1],
    [4, 1],
    [2, 3],
  ])('has no line %i with the character %i', (from, character) => {
    expect(() => pageOf('ab\ncd\nef\n', nameOf('x'), at('', from, character), mostBytes)).toThrow(/There is no|has no/);
  });
});

describe('a long list', () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ id: n, name: `row ${n}` }));

  it('comes whole, item by item', () => {
    const seen: JsonValue[] = [];
    let from: number | null = 0;
    while (from !== null) {
      const page: JsonObject = pageOf(rows, nameOf(rows), at('', from), mostBytes);
      expect(jsonBytes(page, Infinity)).toBeLessThanOrEqual(mostBytes);
      seen.push(...(page['items'] as JsonValue[]));
      from = page['next'] as number | null;
    }
    expect(seen).toEqual(rows);
  });

  it('inside of an object is shown from its beginning, and read on by its path', () => {
    const value = { total: 5_000, 'a/b~c': rows, note: 'end' };
    const page = firstPage(value, nameOf(value), mostBytes);
    const { members } = page as unknown as { members: Record<string, { larger: JsonObject }> };
    expect(members).toMatchObject({ total: 5_000, note: 'end' });
    const larger = members['a/b~c']?.larger ?? {};
    expect(larger).toMatchObject({ path: '/a~1b~0c', kind: 'list', count: 5_000, from: 0 });
    const next = larger['next'] as number;
    expect((larger['items'] as JsonValue[])[0]).toEqual(rows[0]);
    expect(pageOf(value, nameOf(value), at('/a~1b~0c', next), mostBytes)).toMatchObject({
      path: '/a~1b~0c',
      items: expect.arrayContaining([rows[next]]),
    });
    expect(jsonBytes(page, Infinity)).toBeLessThanOrEqual(mostBytes);
  });
});

describe('a page of JSON', () => {
  it('names what is too large for any, and gives it by its path', () => {
    const value = [{ body: 'x\n'.repeat(50_000) }, 1];
    const page = pageOf(value, nameOf(value), at(''), mostBytes);
    expect(page['items']).toMatchObject([
      {
        larger: {
          path: '/0',
          kind: 'object',
          members: { body: { larger: { path: '/0/body', kind: 'text', lines: 50_000 } } },
        },
      },
      1,
    ]);
    expect(pageOf(value, nameOf(value), at('/0/body', 50_000), mostBytes)).toMatchObject({ text: 'x\n', next: null });
  });

  it('loses no member whose name is long', () => {
    const value = Object.fromEntries(['a', 'b'].map((end) => [`${'n'.repeat(20_000)}${end}`, 'v'.repeat(20)]));
    const { members, next } = firstPage(value, nameOf(value), mostBytes) as unknown as { members: object; next: null };
    expect(Object.values(members)).toEqual(['v'.repeat(20), 'v'.repeat(20)]);
    expect(next).toBeNull();
  });

  it('has no page that ends where it began', () => {
    const name = 'n'.repeat(600);
    const value = { [name]: ['v'.repeat(250), 'w'] };
    expect(() => pageOf(value, nameOf(value), at(`/${name}`), 2_048)).toThrow(/no room for 0 .* Go on from 1\./);
    expect(pageOf(value, nameOf(value), at(`/${name}`, 1), 2_048)).toMatchObject({ items: ['w'], next: null });
  });

  it.each(['rows', '/rows/5', '/rows/01', '/rows/-1', '/toString', '/rows/0/x'])('has nothing at %s', (path) => {
    expect(() => pageOf({ rows: [1, 2] }, nameOf(1), at(path), mostBytes)).toThrow(/There is nothing|begins with/);
  });

  it('has members from the beginning on where no more were asked for, and none behind the last', () => {
    expect(pageOf({ a: 1 }, nameOf(1), at(''), mostBytes)).toMatchObject({ members: { a: 1 }, next: null });
    expect(() => pageOf({ a: 1 }, nameOf(1), at('', 1), mostBytes)).toThrow(/There is no 1/);
  });
});
