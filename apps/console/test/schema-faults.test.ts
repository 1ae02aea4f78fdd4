import { describe, expect, it } from '@jest/globals';
import { faultsIn } from '../src/pages/approvals/schema-faults.js';

const schema = {
  ...{ type: 'object', required: ['to', 'key'], additionalProperties: false },
  properties: {
    to: { type: 'array', minItems: 1, items: { type: 'string', enum: ['ann', 'bob'] } },
    key: { type: 'string', writeOnly: true, minLength: 20 },
    sum: { type: ['integer', 'null'], exclusiveMinimum: 0, maximum: 9 },
    note: { type: 'string', maxLength: 2 },
  },
};
const faults = (text: string) => faultsIn(text, schema).map(({ path, message }) => `${path}: ${message}`);

describe('Faults of changed arguments', () => {
  it('are none where the schema takes them, with secrets left out or not shown', () => {
    expect(faults('{"to": ["ann"], "sum": null, "note": "😀😀"}')).toEqual([]);
    expect(faults('{"to": ["ann"], "key": "[redacted]", "sum": 9}')).toEqual([]);
  });

  it('are named by their path', () => {
    expect(faults('{"to": [], "sum": 0, "note": "abc", "more": 1}')).toEqual([
      'to: must have at least 1 items',
      'sum: must be more than 0',
      'note: must have at most 2 characters',
      'more: is no argument of the tool',
    ]);
    expect(faults('{"to": ["eve"], "sum": 1.5}')).toEqual([
      'to.0: must be one of "ann", "bob"',
      'sum: must be of the type integer or null',
    ]);
    expect(faults('{"key": "short"}')).toEqual(['to: is required', 'key: must have at least 20 characters']);
  });

  it('are texts that are no object, and numbers that a browser would change', () => {
    expect(faults('[1]')).toEqual([': Arguments are an object, as { … }.']);
    expect(faults('{')[0]).toMatch(/no JSON/);
    expect(faults('{"to": ["ann"], "sum": 12345678901234567}')[0]).toMatch(/more digits/);
    expect(faults('{"to": ["ann"], "note": "1234567890123456789"}')).toEqual(['note: must have at most 2 characters']);
  });
});
