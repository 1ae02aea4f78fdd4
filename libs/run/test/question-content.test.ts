import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { requestProblem } from '../src/index.js';

const ids = { requestId: 'r', sessionId: 's' };
const one = { hash: 'a'.repeat(64), type: 'image/png', size: 1, kind: 'image', name: 'a.png' };
const problem = (content: unknown): string | null =>
  requestProblem(ids, { ...make.agentRequest({ question: 'What is it?' }), content: content as never });

describe('content of a question', () => {
  it('is a list of at most 20 names', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...one, hash: at.toString(16).padStart(64, '0') }));
    expect(problem(null)).toBeNull();
    expect(problem([])).toBeNull();
    expect(
      problem([one, { ...one, hash: 'b'.repeat(64), kind: 'file', type: 'text/plain; charset=utf-8' }]),
    ).toBeNull();
    expect(problem(many(20))).toBeNull();
    expect(problem(many(21))).toBe('content has 21 entries and the limit is 20. Ask with fewer.');
  });

  it.each([
    [{ hash: 'A'.repeat(64) }, /^content\[0\]\.hash is no name of content/],
    [{ hash: '../../x' }, /^content\[0\]\.hash/],
    [{ type: 'png' }, /^content\[0\]\.type is no media type/],
    [{ type: `image/${'x'.repeat(300)}` }, /^content\[0\]\.type/],
    [{ type: 'image/png\r\nx: y' }, /^content\[0\]\.type/],
    [{ size: -1 }, /^content\[0\]\.size/],
    [{ kind: 'result' }, /^content\[0\]\.kind is not known: write image, audio, file\.$/],
    [{ name: 'x'.repeat(256) }, /^content\[0\]\.name/],
    [{ name: '\ud800' }, /^content\[0\]\.name/],
  ])('says what is wrong with %j', (given, expected) => {
    expect(problem([{ ...one, ...given }])).toMatch(expected);
  });

  it('is named once', () => {
    expect(problem([one, { ...one, name: 'b.png' }])).toBe('content[1] is content[0] again. Name each content once.');
  });
});
