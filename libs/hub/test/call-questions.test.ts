import { describe, expect, it } from '@jest/globals';
import { make, payloadBytes, topics } from '@sluice/contracts';
import { CallQuestions } from '@sluice/hub';
import type { StepQuestion } from '@sluice/core';

const kinds = ['elicitation', 'sampling', 'roots'] as const;
const outcomes = ['answered', 'declined', 'cancelled', 'refused'] as const;
const reasons = ['off', 'no_person', 'limit', 'invalid', 'unsupported', 'model_unreachable'] as const;

describe('what a server asked in a call, as its step lists it', () => {
  it('is each question with its times and its end; one without an answer when the call ends is unanswered', () => {
    let now = 1_000;
    const questions = new CallQuestions(() => now);
    const [form, model] = [questions.begin('s', 'elicitation'), questions.begin('s', 'sampling')];
    questions.begin('s', 'roots');
    now = 3_000;
    form({ outcome: 'answered', by: 'user:ann' });
    now = 4_000;
    model({ outcome: 'refused', reason: 'off' });
    // A second end is none.
    model({ outcome: 'answered' });
    now = 5_000;
    const none = { reason: null, by: null, inputTokens: 0, outputTokens: 0, count: 1 };
    const at = { server: 's', askedAt: 1_000, ...none };
    expect(questions.list()).toEqual([
      { ...at, kind: 'elicitation', endedAt: 3_000, outcome: 'answered', by: 'user:ann' },
      { ...at, kind: 'sampling', endedAt: 4_000, outcome: 'refused', reason: 'off' },
      { ...at, kind: 'roots', endedAt: 5_000, outcome: 'unanswered' },
    ]);
  });

  it('counts what is behind the sixteenth with the last one of its kind, and has room in a step whatever was asked', () => {
    let now = 2 ** 41;
    const questions = new CallQuestions(() => now++);
    const name = '日'.repeat(300);
    let asked = 0;
    for (let round = 0; round < 20; round++)
      for (const kind of kinds)
        for (const outcome of outcomes)
          for (const reason of outcome === 'refused' ? reasons : [undefined]) {
            const tokens = { inputTokens: 2 ** 31, outputTokens: 2 ** 31 };
            const why = reason === undefined ? {} : { reason };
            questions.begin(name, kind)({ outcome, by: `${name}${round}`, ...why, ...tokens });
            asked++;
          }
    const list = questions.list();
    const sum = (of: (one: StepQuestion) => number): number => list.reduce((total, one) => total + of(one), 0);
    expect(list.length).toBeLessThan(50);
    expect(sum(({ count }) => count)).toBe(asked);
    expect(sum(({ inputTokens }) => inputTokens)).toBe(asked * 2 ** 31);
    const bytes = (given: readonly StepQuestion[]): number =>
      payloadBytes(
        topics.requests,
        make.agentRequest({ question: '', history: [make.agentStep({ questions: given })] }),
      );
    expect(bytes(list) - bytes([])).toBeLessThan(20_480);
  });
});
