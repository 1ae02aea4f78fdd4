import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { stepAtEnd } from '@sluice/run';

const step = make.agentStep({ action: 'now', outcome: 'ok' });

describe('the step of a call by the end of its run, whose record is read first', () => {
  it('is the last one of its history', () => {
    const before = make.agentStep({ action: 'before', outcome: 'ok' });
    expect(stepAtEnd({ history: [before, step] }, 1)).toBe(step);
  });

  it('is none where the run ended before it, whatever steps its request brought along', () => {
    expect(stepAtEnd({ history: [] })).toBeUndefined();
    expect(stepAtEnd({ history: [step] }, 1)).toBeUndefined();
  });
});
