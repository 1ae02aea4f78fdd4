import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gistOf, offeredWords, topics } from '@sluice/contracts';
import type { OfferedTool, Toolset } from '@sluice/contracts';
import { anyRecord } from '../../../test/harness/any-record.js';

const [drawn] = fc.sample(anyRecord('agent.toolsets'), { numRuns: 1, seed: 1 }) as [Toolset];
const named = (key: string): OfferedTool => ({
  ...{ id: `core__${key}`, key, description: '', inputSchema: '', effect: 'read_only', schemaHash: '' },
});
const list = (indexes: readonly number[], since = 3) => ({ hash: 'h', indexes, since });

describe('what a turn was offered, in words', () => {
  it.each<[string, Partial<Toolset>, string]>([
    ['by its names', { tools: [named('a'), named('b')], list: list([0, 2]) }, 'a, b'],
    ['as a former version wrote it', { tools: [named('a')], list: null }, 'a'],
    ['of too many to be named', { list: list([0, 40, 1, 2]) }, '42 tools'],
    ['as before', { list: list([0, 2], 1) }, 'the same as in iteration 1 (2)'],
    ['of none', { list: list([]) }, 'no tools'],
    ['of none, as before', { list: list([], 1) }, 'no tools'],
    ['of none by a former version', { list: null }, 'no tools'],
  ])('%s', (_, said, words) => {
    const record = { ...drawn, tools: [], iteration: 3, state: 'begun', ...said };
    expect(offeredWords(record)).toBe(words);
    expect(gistOf({ topic: topics.toolsets, partition: 0, offset: 0, key: 's', record })).toBe(`#3 begun: ${words}`);
  });

  it('writes names by the function that it gets', () => {
    const record = { ...drawn, tools: [named('a'), named('b')] };
    expect(offeredWords(record, (key) => `<${key}>`)).toBe('<a>, <b>');
  });
});
