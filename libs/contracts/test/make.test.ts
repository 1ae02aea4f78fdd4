import { describe, expect, it } from '@jest/globals';
import { make, payloadBytes, recordToJson } from '@sluice/contracts';

describe('functions that make records', () => {
  it('fill in the defaults of the schema', () => {
    expect(make.agentRequest({ question: 'Which?', state: 'a' })).toMatchObject({
      ...{ question: 'Which?', state: 'a', group: null, history: [], strategy: null },
    });
    expect(make.agentStep()).toMatchObject({ outcome: 'ok', stateBefore: 'undefined', cachedAt: null });
  });

  it('make what the log takes, and each a value of its own', () => {
    const request = make.agentRequest({ question: 'Which?' });
    expect(payloadBytes('agent.requests', request)).toBeGreaterThan(10);
    expect(recordToJson('AgentRequest', request)).toMatchObject({ question: 'Which?', max_iterations: null });
    expect(make.agentRequest({ question: '' }).history).not.toBe(request.history);
  });

  it('ask for what has no default', () => {
    // @ts-expect-error A request has a question.
    expect(make.agentRequest({ state: 'a' }).question).toBeUndefined();
  });
});
