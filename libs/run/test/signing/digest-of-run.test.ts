import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wellFormed } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentRequest, AgentStep, ApprovalRequested, Run } from '@sluice/contracts';
import { anyRecord } from '../../../../test/harness/any-record.js';
import { digestOfRequest, digestOfRecord } from '../../src/claims/vouched.js';
import { digestOfRun } from '../../src/signing/run-digest.js';

/**
 * What digests are over, said as simply as it can be, and without the schema. Signatures on logs and claims in
 * ledgers hold them, so they stay.
 */

const isAbsent = (value: unknown): boolean => value === null || value === undefined;

/** Sorted names, without what is absent or named. */
function plainly(given: unknown, without: readonly string[] = [], isNothing = isAbsent): string {
  const value = wellFormed(given);
  if (Array.isArray(value))
    return `[${value.map((item) => plainly(isNothing(item) ? null : item, [], isNothing)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([name, member]) => !isNothing(member) && !without.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${plainly(member, [], isNothing)}`);
  return `{${members.join(',')}}`;
}

/** In the order that steps had when the first were signed. */
function stepPlainly(step: AgentStep): string {
  const { thought, action, arguments: args, observation, outcome, reason, stateBefore, state, toolCallId } = step;
  const { iteration, index, startedAt, endedAt, agentRun, providerData, edited } = step;
  const run =
    agentRun === null
      ? undefined
      : { requestId: agentRun.requestId, inputTokens: agentRun.inputTokens, outputTokens: agentRun.outputTokens };
  return JSON.stringify(
    wellFormed({
      ...{ thought, action, arguments: args, observation, outcome, reason: reason ?? undefined, stateBefore, state },
      ...{ toolCallId, iteration, index, startedAt, endedAt, agentRun: run, providerData: providerData ?? undefined },
      edited: edited ?? undefined,
    }),
  );
}

const tokens = [
  ...['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens'],
  ...['definitionTokens', 'resultTokens', 'otherTokens', 'otherModels'],
];

function expected(request: AgentRequest, run: Run): string {
  const history = request.history.map(stepPlainly).join(',');
  return sha256(`[${history}]${plainly(request, ['history'])}${plainly(run, tokens)}`);
}

/** Names that JavaScript sorts as it likes, in an object, or that are not well formed, are no ids of tools or facts. */
const hasOddNames = (of: object): boolean =>
  Object.keys(of).some((name) => /^\d+$/.test(name) || wellFormed(name) !== name);

describe('the digest of a run', () => {
  it('is over sorted names and nothing that is absent, with steps as they were first signed', () => {
    fc.assert(
      fc.property(anyRecord('agent.steps'), ({ next, run }) => {
        fc.pre(!hasOddNames(run.toolCalls));
        expect(digestOfRun(next, run)).toBe(expected(next, run));
      }),
      { numRuns: 500 },
    );
  });

  it('is over what the agent may add to neither, nor over the hash of a result', () => {
    const [{ next, run }] = fc.sample(anyRecord('agent.steps'), { numRuns: 1, seed: 1 }) as unknown as [
      { readonly next: AgentRequest; readonly run: Run },
    ];
    const hashed = next.history.map((step) => ({ ...step, resultHash: 'other' }));
    const counted = Object.fromEntries(tokens.map((name) => [name, 7]));
    expect(digestOfRun({ ...next, history: hashed }, { ...run, ...counted })).toBe(digestOfRun(next, run));
  });
});

describe('the digest that a service vouches for', () => {
  const saysNothing = (value: unknown): boolean =>
    isAbsent(value) || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

  it('of an approval is over what says something, with the names of the process', () => {
    fc.assert(
      fc.property(anyRecord('agent.approvals'), ({ requested }) => {
        fc.pre(requested !== null);
        const { rules, steps } = requested as unknown as ApprovalRequested;
        fc.pre(!steps.some(({ facts }) => hasOddNames(facts)));
        // What a former version does not read is left out where nothing hangs on it.
        const plain = rules.length === 0 ? ['askedBecause', 'state', 'groups', 'bound'] : [];
        const text = plainly(requested, ['inForceVersion', 'agent', ...plain], saysNothing);
        expect(digestOfRequest(requested as never)).toBe(sha256(text));
      }),
      { numRuns: 300 },
    );
  });

  it('of a record is over what says something, with the names of the wire', () => {
    const step = {
      thought: '',
      action: 'a',
      index: 0,
      iteration: 2,
      agentRun: { requestId: 'r', inputTokens: 0, outputTokens: 1 },
    };
    const text = '{"action":"a","agent_run":{"output_tokens":1,"request_id":"r"},"iteration":2}';
    expect(digestOfRecord('AgentStep', step)).toBe(sha256(text));
  });
});
