import { describe, expect, it } from '@jest/globals';
import { historyProblem } from '../src/history.js';

describe('the steps that a sender brings along (L-02, L-03, K-16)', () => {
  const bounds = { argumentBytes: 8_192, resultBytes: 32_768 };
  const step = { action: 'now', toolCallId: 'c', arguments: '{}', outcome: 'ok', observation: 'Done.' };
  const problem = (changes: object, within: typeof bounds | null = bounds) =>
    historyProblem([{ ...step, ...changes }], within);
  const text = (bytes: number): string => `"${'é'.repeat((bytes - 2) / 2)}"`;

  it('may be as large as those of a run, in bytes', () => {
    expect(problem({ arguments: text(8_192), observation: 'x'.repeat(32_768) })).toBeNull();
    expect(problem({ arguments: text(8_194) })).toMatch(
      /^history\[0\]\.arguments has 8194 bytes and the limit is 8192/,
    );
    expect(problem({ observation: 'x'.repeat(32_769) })).toMatch(/^history\[0\]\.observation has 32769 bytes/);
    expect(problem({ arguments: text(8_194) }, null)).toBeNull();
  });

  it('have arguments in JSON, unless the call was refused for them or they are left out', () => {
    expect(problem({ arguments: '{broken' })).toMatch(/^history\[0\]\.arguments is no JSON/);
    expect(problem({ arguments: '{broken', outcome: 'invalid_json' })).toBeNull();
    expect(problem({ arguments: '[9000 bytes left out]', outcome: 'policy_denied' })).toBeNull();
    expect(problem({ arguments: '' })).toBeNull();
  });
});
