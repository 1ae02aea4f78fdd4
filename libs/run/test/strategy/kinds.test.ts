import { expect, it } from '@jest/globals';
import { kindsAt } from '../../src/strategy/kinds.js';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    rows: { type: 'array', items: { type: ['integer', 'null'] } },
    any: {},
    map: { type: 'object', additionalProperties: { type: 'boolean' } },
  },
  additionalProperties: false,
};

it.each([
  ['', ['object']],
  ['name', ['string']],
  ['name.first', []],
  ['rows', ['array']],
  ['rows.0', ['integer', 'null']],
  ['rows.first', null],
  ['any', null],
  ['any.thing', null],
  ['map.key', ['boolean']],
  ['other', []],
])('a schema takes at “%s” %j', (path, kinds) => {
  expect(kindsAt(schema, path === '' ? [] : path.split('.'))).toEqual(kinds);
  expect(kindsAt(null, path.split('.'))).toBeNull();
});
