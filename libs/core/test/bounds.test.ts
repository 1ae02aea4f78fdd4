import { describe, expect, it } from '@jest/globals';
import { compileBounds, outOfBounds, parseExactJson, withSchemaDefaults } from '@sluice/core';
import type { ArgumentBound, JsonValue, Lists } from '@sluice/core';

const none = { claims: {}, facts: {} };
const lists: Lists = { contacts: { values: ['ann@example.org', 'bob@example.org'] } };
const why = (bound: ArgumentBound, args: JsonValue, path = 'a', facts = none) =>
  outOfBounds(compileBounds({ [path]: bound }, lists), args, facts)?.why ?? null;

describe('a bound of an argument', () => {
  it.each<[string, ArgumentBound, JsonValue[], JsonValue[]]>([
    ['constant', { constant: { value: 'EUR' } }, ['EUR'], ['eur', 1, null, ['EUR']]],
    ['values', { oneOf: { values: ['x', 2] } }, ['x', 2], ['X', '2', 3, null, ['x'], { x: 1 }]],
    ['no such values', { notOneOf: { values: ['x'] } }, ['y', 2, null], ['x', ['x'], { x: 1 }]],
    ['a list', { oneOf: { list: 'contacts' } }, ['ann@example.org'], ['Ann@example.org', 'eve@example.org']],
    ['a list that is gone', { oneOf: { list: 'gone' } }, [], ['x']],
    ['none of a list that is gone', { notOneOf: { list: 'gone' } }, [], ['x']],
    ['least and most', { minimum: 1, maximum: 500 }, [1, 500], [0, 500.01, '5', null, true, [5]]],
    ['more and less', { above: 0, below: 10 }, [0.1, 9.9], [0, 10]],
    ['a pattern', { pattern: '^Re: ' }, ['Re: x'], ['re: x', 'x Re: ', 5, 'Re: '.repeat(200_000)]],
    ['lengths', { minLength: 1, maxLength: 2 }, ['ab', '😀😀', [1]], ['', 'abc', [], [1, 2, 3], 12]],
    ['absence', { absent: true }, [], ['x', null]],
  ])('by %s', (_name, bound, within, outside) => {
    for (const value of within) expect([value, why(bound, { a: value })]).toEqual([value, null]);
    for (const value of outside) expect(why(bound, { a: value })).not.toBeNull();
    if (bound.absent !== true) expect(why(bound, {})).toBeNull();
  });

  it('by hosts takes no address that programs read in different ways', () => {
    const bound = { hosts: ['example.org', '*.example.net'] };
    const isWithin = (text: JsonValue) => why(bound, { a: text }) === null;
    const within = [
      'https://example.org/x',
      'http://EXAMPLE.org:8080',
      'https://a.b.example.net',
      'https://example.org.',
    ];
    expect(within.filter((text) => !isWithin(text))).toEqual([]);
    const outside = [
      ...[
        'https://example.net',
        'https://notexample.org',
        'https://example.org.evil.com',
        'example.org',
        '//example.org',
      ],
      ...[
        'https://evil.com\\@example.org',
        'https://example.org@evil.com',
        'https://u:p@example.org',
        'https://@example.org',
      ],
      ...[
        'https://example.org\n.evil.com',
        ' https://example.org',
        'data:text/plain,example.org',
        'https:/example.org',
      ],
      ...['https:example.org', 5, null, ['https://example.org']],
    ];
    expect(outside.filter(isWithin)).toEqual([]);
  });

  it('compares with a claim as texts, and with an absent claim not at all', () => {
    const facts = { claims: { accounts: ['DE1', '7'] }, facts: {} };
    const is = { oneOf: { claim: 'accounts' } };
    const isNot = { notOneOf: { claim: 'accounts' } };
    expect(['DE1', 7, 'DE2'].map((a) => why(is, { a }, 'a', facts) === null)).toEqual([true, true, false]);
    expect(['DE1', 7, 'DE2'].map((a) => why(isNot, { a }, 'a', facts) === null)).toEqual([false, false, true]);
    expect([why(is, { a: 'DE1' }), why(isNot, { a: 'DE1' })]).not.toContain(null);
    const many = { claims: { accounts: Array.from({ length: 64 }, String) }, facts: {} };
    expect(why(isNot, { a: 'x' }, 'a', many)).not.toBeNull();
  });

  it('holds for every value at its path, and for none that a path does not lead to', () => {
    const bound = { oneOf: { list: 'contacts' } } as const;
    const to = (participants: JsonValue) => why(bound, { participants }, 'participants/*/mail') === null;
    expect(to([{ mail: 'ann@example.org' }, { mail: 'bob@example.org' }])).toBe(true);
    expect(to([{ mail: 'ann@example.org' }, { mail: 'eve@example.org' }])).toBe(false);
    expect(to({ one: { mail: 'eve@example.org' } })).toBe(false);
    expect(to([])).toBe(true);
    expect([to('eve@example.org'), to(['eve@example.org']), to(null)]).toEqual([false, false, false]);
    expect(why({ required: true }, { participants: [] }, 'participants/*/mail')).toBe('it must be given');
    const some = { participants: [{ mail: 'ann@example.org' }, {}] };
    expect(why({ required: true }, some, 'participants/*/mail')).toBe('it must be given');
    expect(why({ absent: true }, { 'a/b': 1 }, 'a~1b')).toBe('it may not be given');
    expect(why({ required: true }, {}, 'toString')).toBe('it must be given');
  });

  it('binds a default of the schema, and none of null', () => {
    const schema = {
      type: 'object',
      properties: { a: { default: 900 }, b: { default: null }, c: { properties: { d: { default: null } } } },
    };
    const args = withSchemaDefaults(schema, { c: {} });
    expect(args).toEqual({ a: 900, c: {} });
    expect(why({ maximum: 500 }, args)).not.toBeNull();
    expect([why({ absent: true }, args, 'b'), why({ oneOf: { values: ['x'] } }, args, 'b')]).toEqual([null, null]);
    expect(why({ oneOf: { values: ['x'] } }, withSchemaDefaults(schema, { b: null }), 'b')).not.toBeNull();
  });

  it('takes no number of more digits than a number holds', () => {
    const at = (text: string) => why({ maximum: 9_007_199_254_740_992 }, parseExactJson(`{"a":${text}}`)) === null;
    expect([at('9007199254740992'), at('9007199254740993'), at('1.0'), at('1e400')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
