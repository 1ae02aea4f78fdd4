import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { compileEvaluator, requestWarnings } from '@sluice/core';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const file = {
  tool: {
    one: { type: 'knowledge-query', group: ['read-only'], state: 'analysis', available_in_states: ['undefined'] },
    two: { type: 'knowledge-query', group: ['read-only', 'v1'], available_in_states: ['phase-1', 'analysis'] },
    three: { type: 'knowledge-query', group: ['confidential'], available_in_states: ['investigation'] },
  },
  policy: { allowed_tools: ['*'] },
};
const { configuration, problems } = compileConfiguration(file, sampleInputs);
if (configuration === null) throw new Error(JSON.stringify(problems));
const evaluator = compileEvaluator(configuration);
const short = (group: readonly string[] | null, state: string | null = null, permitted: readonly string[] = ['*']) =>
  requestWarnings(evaluator, permitted, { group, state }).map(({ name, suggestion }) => [name, suggestion]);

describe('what a request is warned of', () => {
  it('is each group and the state that are unknown, with what is probably meant (G-177)', () => {
    expect(requestWarnings(evaluator, ['*'], { group: ['Read-Only', 'nothing-like-it'], state: 'anlysis' })).toEqual([
      {
        code: 'unknown_group',
        name: 'Read-Only',
        suggestion: 'read-only',
        message: 'No tool is in the group "Read-Only", so it matches nothing. If "read-only" is meant, write that.',
      },
      {
        code: 'unknown_group',
        name: 'nothing-like-it',
        suggestion: null,
        message: 'No tool is in the group "nothing-like-it", so it matches nothing.',
      },
      {
        code: 'unknown_state',
        name: 'anlysis',
        suggestion: 'analysis',
        message:
          'No tool that this caller may use names the state "anlysis", so only those of every state are available in it. If "analysis" is meant, write that.',
      },
    ]);
  });

  it('is nothing of what is known', () => {
    expect(short(null)).toEqual([]);
    expect(short([], '')).toEqual([]);
    expect(short(['*', 'default', 'read-only'], 'undefined')).toEqual([]);
    expect(short(['read-only'], 'phase-1')).toEqual([]);
  });

  it('suggests by the rule of the findings: neither another number nor another short name', () => {
    expect(short(['v2'], 'phase-2')).toEqual([
      ['v2', null],
      ['phase-2', null],
    ]);
    expect(short(['V1'])).toEqual([['V1', 'v1']]);
  });

  it('names no group and no state beyond the caller’s groups', () => {
    expect(short(['confidentail'], 'investigatoin')).toEqual([
      ['confidentail', 'confidential'],
      ['investigatoin', 'investigation'],
    ]);
    const permitted = ['read-only', 'confidentail'];
    expect(short(['confidentail'], 'investigatoin', permitted)).toEqual([
      ['confidentail', null],
      ['investigatoin', null],
    ]);
    // Whether the state exists for others is not to be seen either.
    expect(short(null, 'investigation', permitted)).toEqual([['investigation', null]]);
  });

  it('is ten groups at most', () => {
    expect(short(Array.from({ length: 5_000 }, (_, at) => `none-${String(at)}`))).toHaveLength(10);
  });
});
