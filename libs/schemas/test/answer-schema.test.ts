import { describe, expect, it } from '@jest/globals';
import { answerSchemaLimits, answerSchemaProblem } from '../src/answer-schema.js';

const problem = (schema: unknown) => answerSchemaProblem(JSON.stringify(schema));

describe('a schema for answers', () => {
  it('may be any that can be checked, also one that refers to its own parts', () => {
    const list = { type: 'object', properties: { next: { $ref: '#/$defs/list' }, n: { type: 'integer' } } };
    expect(problem({ $ref: '#/$defs/list', $defs: { list } })).toBeNull();
    expect(problem({ oneOf: [{ type: 'string' }, { $ref: '#other' }], $defs: { a: { $anchor: 'other' } } })).toBeNull();
    expect(problem({})).toBeNull();
  });

  it.each([
    ['a text', 'x', 'answer_schema is no JSON object'],
    ['a reference to elsewhere', { $ref: 'https://example.com/s.json' }, 'refers to "https://example.com/s.json"'],
    ['a reference to nothing', { items: { $ref: '#/$defs/gone' } }, 'refers to "#/$defs/gone"'],
    ['an unknown type', { properties: { a: { type: 'strange' } } }, 'the type "strange" at /properties/a/type'],
    ['a pattern that is none', { pattern: '(' }, 'no regular expression of ECMAScript at /pattern: write one.'],
    ['too many parts', { enum: Array.from({ length: 2_000 }, (_, at) => at) }, 'has 2002 parts and the limit is 2000'],
    ['too many levels', Array.from({ length: 70 }).reduce((inner: object) => ({ not: inner }), {}), 'deeper than 64 levels'], // prettier-ignore
    ['too many bytes', { description: 'x'.repeat(answerSchemaLimits.bytes) }, 'the limit is 32768'],
  ])('is none: %s', (_, schema, sentence) => {
    expect(problem(schema)).toContain(sentence);
  });
});
