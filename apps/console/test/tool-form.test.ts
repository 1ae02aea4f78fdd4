import { describe, expect, it } from '@jest/globals';
import { argumentsOf, draftOfFields } from '../src/pages/tools/form/draft.js';
import { fieldsOf } from '../src/pages/tools/form/fields.js';

const place = {
  type: 'object',
  properties: { latitude: { type: 'number', minimum: -90, maximum: 90 }, note: { type: 'string' } },
  required: ['latitude'],
};
const schema = {
  type: 'object',
  $defs: { place },
  properties: {
    name: { type: 'string', title: 'Name', description: 'Of the trip.' },
    days: { type: ['integer', 'null'], minimum: 1 },
    by: { enum: ['train', 'bike'], default: 'bike' },
    class: { anyOf: [{ const: 1 }, { const: 2 }, { type: 'null' }] },
    isReturn: { type: 'boolean' },
    stops: { type: 'array', items: { $ref: '#/$defs/place' } },
    end: { $ref: '#/$defs/place' },
    filter: { oneOf: [{ type: 'string' }, { type: 'object' }] },
    end2: { type: ['object', 'array'] },
    self: { $ref: '#/properties/self' },
  },
  required: ['name'],
};
const fields = fieldsOf(schema) ?? [];
const filled = (more: object) => ({ ...draftOfFields(fields, {}), name: 'North', ...more });

describe('The form of a tool', () => {
  it('has a field of its kind for each argument, and JSON for the rest', () => {
    expect(Object.fromEntries(fields.map(({ name, kind }) => [name, kind]))).toEqual({
      ...{ name: 'text', days: 'number', by: 'choice', class: 'choice', isReturn: 'boolean', stops: 'list' },
      ...{ end: 'object', filter: 'json', end2: 'json', self: 'json' },
    });
    expect(fields[0]).toMatchObject({ label: 'Name', description: 'Of the trip.', isRequired: true });
    expect(fieldsOf(true)).toBeNull();
    expect(fieldsOf({ type: 'array' })).toBeNull();
    expect(fieldsOf({ type: 'object' })).toEqual([]);
  });

  it('gives the arguments by their types and leaves out what is empty', () => {
    const draft = filled({ days: '3', isReturn: 'false', class: '1', stops: [{ latitude: '1.5', note: '' }] });
    expect(argumentsOf(fields, draft)).toEqual({
      value: { name: 'North', days: 3, by: 'bike', class: 2, isReturn: false, stops: [{ latitude: 1.5 }] },
      problems: [],
    });
  });

  it('says at its field what is to be mended', () => {
    const draft = filled({
      name: '',
      days: '1.5',
      stops: [{ latitude: '91' }],
      end: { note: 'x' },
      filter: 'plain {',
      end2: '{',
    });
    expect(argumentsOf(fields, draft).problems).toEqual([
      { path: 'name', message: 'It is required.' },
      { path: 'days', message: 'Write a whole number.' },
      { path: 'stops.0.latitude', message: 'It is 90 at most.' },
      { path: 'end.latitude', message: 'It is required.' },
      { path: 'end2', message: expect.stringContaining('This is no JSON') },
    ]);
  });

  it('is filled by arguments and gives the same again', () => {
    const value = { name: 'North', by: 'train', stops: [{ latitude: 2, note: 'a' }], filter: { a: [1] } };
    expect(argumentsOf(fields, draftOfFields(fields, value)).value).toEqual(value);
  });

  it('takes a text as it is where a value may be one', () => {
    const read = (filter: unknown) => argumentsOf(fields, draftOfFields(fields, { name: 'N', filter })).value;
    expect(argumentsOf(fields, filled({ filter: 'plain {' })).value).toMatchObject({ filter: 'plain {' });
    expect(['plain', '5', 5, { a: 1 }].map(read)).toMatchObject(
      ['plain', '5', 5, { a: 1 }].map((filter) => ({ filter })),
    );
  });

  it('keeps names that objects have by nature apart', () => {
    const odd = fieldsOf({ properties: { constructor: { type: 'string' }, ['__proto__']: { type: 'string' } } }) ?? [];
    const read = argumentsOf(odd, draftOfFields(odd, {}));
    expect(read).toEqual({ value: {}, problems: [] });
  });
});
