import { describe, expect, it } from '@jest/globals';
import type { Dead } from '@sluice/bus';
import { make, maxPayloadBytes, payloadBytes, recordFromJson, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { endOfDead } from '@sluice/run';

const request: AgentRequest = make.agentRequest({ question: 'Who?', group: [], requestId: 'r', sessionId: 's' });
const place = { topic: 'agent.requests', partition: 0, offset: 7, key: 's', headers: {}, timestamp: 5 } as const;

function errorOf(dead: Pick<Dead, 'code' | 'reason' | 'lastFault'>) {
  const message = { ...place, record: request };
  return endOfDead({ ...place, value: Buffer.alloc(0), message, attempts: 10, ...dead }, null, 9)?.response.error;
}

const exhausted = (lastFault: string | null, words: string) =>
  errorOf({
    code: 'retries_exhausted',
    reason: `It was tried 10 times; the last fault was ${lastFault}: ${words}`,
    lastFault,
  });

describe('what a caller reads of a record that was retried until the limit', () => {
  it('is model_failed if it was the model that was away', () => {
    expect(exhausted('model_unreachable', 'The model m could not be reached (ECONNREFUSED).')).toEqual({
      code: 'model_failed',
      message: 'The model could not be reached, however often it was asked.',
    });
  });

  it.each([
    ['identity_unreachable', 'https://login.internal:8443/keys'],
    ['ledger_unreachable', 'db-7.internal:5432'],
    ['storage', '/var/lib/sluice/log.sqlite'],
  ])('is dead_lettered for %s, and nothing of the fault’s own words', (fault, secret) => {
    const error = exhausted(fault, `${secret} does not answer.`);
    expect(error).toMatchObject({
      code: 'dead_lettered',
      message: expect.stringMatching(/kept among the dead letters/),
    });
    expect(error?.message).not.toContain(secret);
  });

  it('is what a former version reported, where the letter is of one', () => {
    const reason = 'It was tried 10 times; the last fault was model_unreachable: No answer.';
    expect(errorOf({ code: 'retries_exhausted', reason, lastFault: null })).toEqual({
      code: 'dead_lettered',
      message: reason,
    });
  });
});

describe('the end of a request that was too large', () => {
  const endOf = (changes: Partial<AgentRequest>) => {
    const record = { ...request, state: 'checking', ...changes };
    const why = { code: 'output_too_large', reason: 'Make it smaller.', lastFault: null, attempts: 1 };
    const dead: Dead = { ...place, value: Buffer.alloc(0), message: { ...place, record }, ...why };
    const response = endOfDead(dead, null, 9)?.response;
    expect(response).toMatchObject({ requestId: 'r', sessionId: 's', error: { code: 'size_exceeded' } });
    return response;
  };
  const bytes = (response: ReturnType<typeof endOf>) =>
    response === undefined ? 0 : payloadBytes(topics.responses, response);
  const whole = (length: number) => endOf({ question: 'x'.repeat(length) });

  it('repeats what was asked as long as there is room for it, to the byte', () => {
    const room = 900_000 + maxPayloadBytes - bytes(whole(900_000));
    expect(whole(room)?.question).toHaveLength(room);
    expect(bytes(whole(room))).toBe(maxPayloadBytes);
    expect(whole(room + 1)).toMatchObject({ question: '', history: [], state: 'checking' });
  });

  it('does without a history that there is no room for', () => {
    const step = { action: 'look', arguments: '{}', observation: 'x'.repeat(1_048_000) };
    const { history } = recordFromJson('AgentRequest', { question: 'q', history: [step] }) as AgentRequest;
    const end = endOf({ history });
    expect(end).toMatchObject({ question: '', history: [], state: 'checking' });
  });

  it('does without a state that there is no room for', () => {
    expect(endOf({ state: 'x'.repeat(1_048_000) })).toMatchObject({ question: '', state: 'undefined' });
  });
});
