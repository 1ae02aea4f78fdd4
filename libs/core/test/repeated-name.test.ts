import { describe, expect, it } from '@jest/globals';
import { repeatedName } from '../src/index.js';

describe('names that stand twice in an object', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":1},"c":[0,{"d":[{}],"d":null}]}', 'c[1].d'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{ "a" : "x" , "b" : "a" , "b" : 1 }', 'b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
    ['[{"a":1},{"a":1,"a":1}]', '[1].a'],
  ])('are found in %s', (text, path) => {
    expect(repeatedName(text)).toBe(path);
  });

  it.each([
    '{"a":{"a":{"a":"a"}},"b":["a","a"]}',
    '[{"a":1},{"a":1}]',
    '{"a":"{\\"b\\":1,\\"b\\":2}","b":"\\\\","c":"\\\\\\""}',
    '"a"',
    '1',
    '{}',
  ])('are not in %s', (text) => {
    JSON.parse(text);
    expect(repeatedName(text)).toBeNull();
  });

  it('are found however deep they stand, and however long the text is', () => {
    const depth = 100_000;
    const nested = `${'['.repeat(depth)}{"a":1,"a":2}${']'.repeat(depth)}`;
    expect(repeatedName(nested)).toMatch(/\.a$/);
    expect(repeatedName(`{"a":"${'\\\\'.repeat(500_000)}","a":1}`)).toBe('a');
  });
});
