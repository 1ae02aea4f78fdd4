import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { make, topics } from '@sluice/contracts';
import type { AgentResponse, AgentStep, AgentStepResult } from '@sluice/contracts';
import { createSignatures, newKeySet } from '@sluice/identity';
import { signCall, signContinuation, signEnd } from '@sluice/run';
import { anyRecord } from '../../../test/harness/any-record.js';
import { isAuthentic } from '../src/authentic.js';

describe('a turn’s steps are authentic', () => {
  const verifying = { signatures: createSignatures(newKeySet(0)), clock: { now: () => 1_000 } };
  const [drawn] = fc.sample(anyRecord('agent.steps'), { numRuns: 1, seed: 7 }) as [AgentStepResult];
  const step: AgentStep = make.agentStep({
    action: 'a',
    arguments: '{}',
    observation: 'found',
    stateBefore: 's',
    state: 's',
    toolCallId: 'c',
    iteration: 1,
    startedAt: 1,
    endedAt: 2,
    resultHash: 'a hash',
  });

  async function isAuthenticWith(steps: readonly AgentStep[]): Promise<boolean> {
    const history = [{ ...step, resultHash: null, providerData: '{"signature":"of the provider"}' }];
    const signed = await signContinuation({ ...drawn, call: null, steps, next: { ...drawn.next, history } }, verifying);
    const message = {
      topic: topics.steps,
      partition: 0,
      offset: 0,
      key: 's',
      headers: {},
      timestamp: 1,
      record: signed,
    };
    return isAuthentic(message, verifying);
  }

  it('where the history has their provider’s data beside them, and no hash', async () => {
    expect(await isAuthenticWith([step])).toBe(true);
  });

  it('where they say what a history leaves out', async () => {
    const image = { hash: 'a'.repeat(64), type: 'image/png', size: 1, kind: 'image', name: null };
    const asked = { kind: 'roots', server: 's', askedAt: 1, endedAt: 1, outcome: 'answered', reason: null, by: null };
    const questions = [{ ...asked, inputTokens: 0, outputTokens: 0, count: 1 }];
    const said = { ...step, cachedAt: 1, documentation: 'read', content: [image], questions };
    expect(await isAuthenticWith([said])).toBe(true);
    expect(await isAuthenticWith([{ ...step, rule: 'tool.pay', facts: { 'total/day': '400' } }])).toBe(true);
  });

  it('only if the history ends with them', async () => {
    expect(await isAuthenticWith([{ ...step, observation: 'lost' }])).toBe(false);
    expect(await isAuthenticWith([step, step])).toBe(false);
  });
});

describe('a call that its request made itself is authentic', () => {
  const keys = newKeySet(1_000);
  const verifying = { signatures: createSignatures(keys), clock: { now: () => 2_000 } };
  const [drawn] = fc.sample(anyRecord('agent.steps'), { numRuns: 1, seed: 7 }) as [AgentStepResult];
  const call = make.callDecision({ decidedAt: 1, groups: ['a'] });
  const isAuthenticSo = (record: AgentStepResult) => {
    const place = { topic: topics.steps, partition: 0, offset: 0, key: 's', headers: {}, timestamp: 1 } as const;
    return isAuthentic({ ...place, record }, verifying);
  };

  it('if the executor signed it with its key for calls, and with no other', async () => {
    const ended = { ...drawn, call, signature: null, recordSignature: null };
    const signed = await signCall(ended, verifying);
    expect(await isAuthenticSo(signed)).toBe(true);
    expect(await isAuthenticSo({ ...signed, call: { ...call, groups: [] } })).toBe(false);
    // No former version wrote such records, so that they are signed says the time of none.
    expect(await isAuthenticSo(ended)).toBe(false);
    expect(await isAuthenticSo(await signContinuation(ended, verifying))).toBe(false);
    expect(await isAuthenticSo({ ...signed, call: null })).toBe(false);
  });
});

describe('an end of a run is authentic', () => {
  const keys = newKeySet(1_000);
  const verifying = { signatures: createSignatures(keys), clock: { now: () => 2_000 } };
  const [end] = fc.sample(anyRecord('agent.responses'), { numRuns: 1, seed: 7 }) as [AgentResponse];
  const isAuthenticAt = (timestamp: number, record: AgentResponse) =>
    isAuthentic(
      { topic: topics.responses, partition: 0, offset: 0, key: 's', headers: {}, timestamp, record },
      verifying,
    );

  it('if a service signed it, or if it is older than signed ends', async () => {
    const unsigned = { ...end, recordSignature: null };
    const signed = await signEnd(unsigned, 'agent', verifying);
    expect(await isAuthenticAt(1_000, signed)).toBe(true);
    expect(await isAuthenticAt(1_000, { ...signed, answer: 'Another one.' })).toBe(false);
    expect(await isAuthenticAt(1_000, unsigned)).toBe(false);
    expect(await isAuthenticAt(999, unsigned)).toBe(true);
  });
});
