import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import type { Evaluator } from '@sluice/core';
import { sideBySideIn, supervised } from '../../src/strategy/supervise.js';

const tool = (effect: string, more: object = {}) => ({ agent: {}, target: null, spec: { effect }, ...more });
const byId = {
  core__reads: tool('read_only'),
  core__writes: tool('write'),
  core__moves: tool('read_only', { target: 'next' }),
  core__plain: tool('read_only', { agent: undefined }),
} as unknown as Readonly<Record<string, ReturnType<Evaluator['byId']>>>;
const evaluator = { byId: (id: string) => byId[id] };
const tools = [...Object.keys(byId), 'core__gone'].map((id) => ({ id })) as never;

describe('a turn of a supervisor', () => {
  it('has agents side by side that only read and lead to no state', () => {
    expect(sideBySideIn({ tools }, evaluator)).toEqual(['core__reads']);
  });

  it('goes by how many agents the turn before called, and how many of those answered', () => {
    const agentRun = make.agentRun({ requestId: 'agent-1' });
    const step = (iteration: number, more: object = {}) => make.agentStep({ iteration, agentRun, ...more });
    const reason = (...history: readonly object[]) =>
      supervised({ run: { strategy: null }, request: { history }, tools } as never, evaluator).reason;
    expect(reason()).toBe('3 agents are offered.');
    expect(reason(step(1), step(2), step(2, { outcome: 'execution' }), step(2, { agentRun: null }))).toBe(
      '1 of 2 agents of the turn before answered.',
    );
    expect(reason(step(1), step(2, { agentRun: null }))).toBe('3 agents are offered.');
  });
});
