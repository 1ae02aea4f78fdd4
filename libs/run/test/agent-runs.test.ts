import { describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { AgentSettings, Configuration, Evaluator } from '@sluice/core';
import type { AgentResponse, ToolCall } from '@sluice/contracts';
import type { Dead } from '@sluice/bus';
import { agentBeginning, endOfDead, handedBack, isCallOf, mayHandOver } from '@sluice/run';

const settings: AgentSettings = {
  ...{ groups: ['facts'], state: null, maxIterations: null, tokens: 5, microUsd: null, instructions: null },
  answerBytes: 300,
};

/** A configuration with the agent `core__a`, as far as decisions on its calls look at it. */
function under(agent: AgentSettings | undefined, timeoutMs = 30_000, budgetMs: number | null = null): Evaluator {
  const tool = { key: 'a', id: 'core__a', type: 'agent', groups: ['default'], states: ['*'], target: null, spec: null };
  const budget = { timeoutMs: budgetMs, resultBytes: null, callsPerRun: null, callsPerMinute: null };
  return compileEvaluator({
    version: 'c-1',
    tools: [{ ...tool, timeoutMs, ...(agent === undefined ? {} : { agent }) }],
    policy: {
      allowedTools: ['core__a'],
      approvalEffects: [],
      approvers: [],
      budgets: { callsPerRun: null, tools: { core__a: budget } },
    },
    limits: { maxIterations: 10, runMs: 300_000, resultBytes: 1_000 },
    model: { maxOutputTokens: 100 },
    identity: { provider: 'none' },
  } as unknown as Configuration);
}

const caller = (groups: readonly string[], deadline = 1_000_000): ToolCall =>
  ({
    ...{ requestId: 'r', sessionId: 's', iteration: 2, thought: '', configVersion: 'c-1' },
    calls: [{ toolCallId: 'one', tool: 'core__a', arguments: '{"question":"Who?"}' }],
    request: { connections: ['crm'], deadline: null },
    run: {
      parent: null,
      deadline,
      inputTokens: 0,
      outputTokens: 0,
      principal: { actorId: 'user:a', tenantId: 't', subjectId: null, groups, connections: [] },
    },
  }) as unknown as ToolCall;

describe('whether a call of an agent can become a run (K-63)', () => {
  const good = under(settings);

  it.each([
    ['its groups are among those of the caller', ['x', 'facts'], [good, good], null],
    ['the caller may have all', ['*'], [good, good], null],
    ['one of its groups is not the caller’s', ['x'], [good, good], 'agent_groups'],
    [
      'it works with all groups and the caller may not',
      ['facts'],
      [under({ ...settings, groups: ['*'] })],
      'agent_groups',
    ],
    ['it is no agent any more', ['*'], [good, under(undefined)], 'not_allowed'],
    ['it works with fewer groups now', ['*'], [good, under({ ...settings, groups: [] })], 'not_allowed'],
    ['it works with more groups now', ['*'], [good, under({ ...settings, groups: ['facts', 'more'] })], null],
  ])('%s', (_, groups, judges, reason) => {
    const verdict = mayHandOver('core__a', caller(groups), judges);
    expect(verdict.ok ? null : verdict.reason).toBe(reason);
  });
});

describe('how an agent’s run begins (K-65)', () => {
  const handing = { agentRunId: 'agent-1', question: 'Who?', startedAt: 1_000, fanOut: null };
  const begin = (record: ToolCall, granting: Evaluator, inForce = granting) =>
    agentBeginning({ topic: 'agent.tool-calls', partition: 3, offset: 7, record }, 0, handing, [], {
      granting,
      inForce,
    });

  it.each([
    ['its own time', caller(['*']), under(settings), under(settings), 31_000],
    ['the time of the run that calls it', caller(['*'], 9_000), under(settings), under(settings), 9_000],
    ['the shorter time of the configuration in force', caller(['*']), under(settings), under(settings, 5_000), 6_000],
    ['the time that the policy gives a call', caller(['*']), under(settings, 30_000, 4_000), under(settings), 5_000],
  ])('bounded by %s', (_, record, granting, inForce, deadline) => {
    const { run, next, iteration, steps } = begin(record, granting, inForce);
    expect([run.deadline, next.deadline, iteration, steps]).toEqual([deadline, deadline, 0, []]);
    expect(run.parent).toMatchObject({ requestId: 'r', partition: 3, offset: 7, index: 0, maxTokens: 5 });
    expect(next).toMatchObject({
      question: 'Who?',
      connections: ['crm'],
      toolIds: null,
      toolChoice: null,
      userId: null,
    });
  });

  it('under a name that only this very call has', () => {
    const record = caller(['*']);
    const own = 'agent-';
    expect(isCallOf(`${own}${'0'.repeat(32)}`, record, 0)).toBe(false);
    expect(isCallOf(own, record, 1)).toBe(false);
  });
});

describe('what the end of an agent’s run means', () => {
  it.each([
    ['max_iterations', 'agent_budget_used'],
    ['deadline_exceeded', 'agent_budget_used'],
    ['budget_exceeded', 'agent_budget_used'],
    ['model_failed', 'agent_failed'],
    ['dead_lettered', 'agent_failed'],
  ])('%s is %s, and names its code', (code, reason) => {
    const back = handedBack(
      { answer: null, error: { code, message: 'So it was.' }, incomplete: null },
      settings,
      1_000,
    );
    expect(back).toEqual({ ok: false, reason, message: `The agent ended without an answer (${code}): So it was.` });
  });

  it('half an answer says that it is one, and why', () => {
    const incomplete = { reason: 'length', finishReason: 'max_tokens' };
    const partial = `${'a'.repeat(900)}\n\n[Partial answer. Step 1 of the plan failed: x]`;
    const cut = handedBack({ answer: partial, error: null, incomplete: null }, settings, 300);
    expect(cut).toMatchObject({ ok: true, answer: expect.stringMatching(/^a+[\s\S]*\[Partial answer\. Step 1 .*\]$/) });
    const back = handedBack({ answer: 'Half an ans', error: null, incomplete }, settings, 1_000);
    const note = 'This is not the whole answer: the model reached its limit of tokens (“max_tokens”).';
    expect(back).toEqual({ ok: true, answer: `Half an ans\n\n[${note}]` });
    const long = handedBack({ answer: 'x'.repeat(5_000), error: null, incomplete }, settings, 1_000);
    expect(long.ok && long.answer.endsWith(`\n\n[${note}]`) && long.answer.length < 1_000).toBe(true);
  });

  it('as a dead letter: the run that waits for it ends, and nothing where no run does', () => {
    const dead = (record: Partial<AgentResponse>): Dead =>
      ({
        topic: 'agent.responses',
        code: 'unexpected',
        message: { topic: 'agent.responses', record },
      }) as unknown as Dead;
    const parent = { requestId: 'r', sessionId: 's' };
    const end = endOfDead(dead({ requestId: 'agent-1', run: { parent } } as unknown as AgentResponse), 'acme', 5);
    expect(end?.response).toMatchObject({ ...parent, kind: 'error', error: { code: 'dead_lettered' }, endedAt: 5 });
    expect(endOfDead(dead({ requestId: 'x', run: null }), 'acme', 5)).toBeNull();
  });
});
