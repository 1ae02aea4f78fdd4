import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { suretyOf } from '../../src/ends/surety.js';
import { whyNoPlan } from '../../src/strategy/why-plan.js';

const decision = (action: string, more: object) =>
  make.strategyDecision({ strategy: 'confidence', action, reason: 'Step 1 failed.', ...more });

describe('how sure an answer is said to be', () => {
  it.each([
    ['a run without a strategy', null, { confidence: null, partial: null }],
    ['a whole answer', decision('answer', { confidence: 0.9 }), { confidence: 0.9, partial: null }],
    [
      'an answer by what there is',
      decision('answer', { partial: true }),
      { confidence: null, partial: 'Step 1 failed.' },
    ],
    [
      'one of an earlier version',
      decision('partial', { confidence: 0.2 }),
      { confidence: 0.2, partial: 'Step 1 failed.' },
    ],
  ])('says %s', (_, said, surety) => {
    expect(suretyOf({ answer: 'Yes.', decision: said })).toEqual(surety);
  });

  it('is nothing of a run that ended with an error', () => {
    const said = decision('partial', { partial: true, confidence: 0.5 });
    expect(suretyOf({ answer: null, decision: said })).toEqual({ confidence: null, partial: null });
  });
});

describe('why a run needs another plan', () => {
  it('does not call a plan refused whose tool took it', () => {
    const taken = whyNoPlan({ outcome: 'ok', observation: 'The plan is taken. It has 1 step.' });
    expect(taken).toBe('The plan before has no steps that can be read, so none was made.');
    expect(whyNoPlan({ outcome: 'validation', observation: 'Step 1 fails.' })).toContain('refused: Step 1 fails.');
    expect(whyNoPlan(null)).toBe('The run begins with a plan.');
  });
});
