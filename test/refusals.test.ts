import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';

describe('what the model may not do', () => {
  const model = new ScriptedModel(inOrder());
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(
      workflowConfiguration({ allowed: 'knowledge-query, graph-update, complex-analysis, reset-workflow' }),
      model,
    );
  });
  afterAll(() => system.close());

  const play = (group: string[], ...turns: Said[]) => {
    model.script = inOrder(...turns);
    model.asked.length = 0;
    return system.ask({ group });
  };

  it.each([
    ['a tool of a group that was not asked for (G-09, C-02)', calls.update, 'policy_denied', 'not_eligible_group'],
    [
      'a tool that policy does not allow (T-20a, C-08, E-02, K-22)',
      [ids.text, '{"prompt":"x"}'],
      'policy_denied',
      'not_allowed',
    ],
    [
      'a tool that does not exist (X-3, T-20b, E-01, K-21)',
      ['core__no_such_tool', '{}'],
      'unavailable',
      'unknown_tool',
    ],
    ['a tool by its key instead of its id (X-17)', ['knowledge-query', '{}'], 'unavailable', 'unknown_tool'],
    ['arguments that are not JSON (S-16, S-17, S-18, S-19, E-07)', [ids.query, '{"sparql": '], 'invalid_json', null],
    ['arguments against the schema (P-05)', [ids.query, '{"sparql": 7}'], 'validation', null],
    ['arguments that nobody declared', [ids.query, '{"sparql":"ASK {}","connectionId":"x"}'], 'validation', null],
  ] as const)('%s: an observation, never an execution, and the run goes on', async (_, call, outcome, reason) => {
    const response = await play(['read-only'], { calls: [call] }, { calls: [calls.query] });
    expect(response).toMatchObject({ kind: 'answer', iterations: 3 });
    expect(response.history[0]).toMatchObject({ outcome, reason, state: 'undefined', stateBefore: 'undefined' });
    expect(model.asked[1]?.history[0]?.observation.length).toBeGreaterThan(10);
    expect(response.history[1]).toMatchObject({ outcome: 'ok', state: 'analysis' });
  });

  it('tells the offered tools with a refusal, and not the raw arguments (E-09)', async () => {
    const response = await play(
      ['read-only'],
      { calls: [['core__x', '{"password":"hunter2"}']] },
      { calls: [[ids.query, '{"password":"hunter2']] },
    );
    expect(response.history[0]?.observation).toContain(ids.query);
    expect(response.history.map((step) => step.observation).join()).not.toContain('hunter2');
  });

  it('checks each call of a turn against the state at its start (G-72, C-02, XB-13)', async () => {
    const before = await system.metric('agent_invalid_state_transition_total');
    const response = await play(['read-only'], { calls: [calls.query, calls.query] });
    expect(response.history.map(({ outcome, reason, state }) => [outcome, reason, state])).toEqual([
      ['ok', null, 'analysis'],
      ['policy_denied', 'not_eligible_state', 'analysis'],
    ]);
    expect(await system.metric('agent_invalid_state_transition_total')).toBe(before + 1);
  });

  it('does not run what becomes eligible in mid-turn but was not offered (T-23a, C-08)', async () => {
    const response = await play(['read-only', 'admin'], { calls: [calls.query, calls.reset] });
    expect(response.history[1]).toMatchObject({
      action: 'reset-workflow',
      outcome: 'policy_denied',
      state: 'analysis',
    });
  });

  it.each([
    ['absent: what it would be offered', null, [[ids.query], [ids.update, ids.reset]], ['ok', 'ok']],
    ['empty: no tools', [], [[], []], ['policy_denied', 'policy_denied']],
    ['some: these, in each iteration', [ids.query, ids.reset], [[ids.query], [ids.reset]], ['ok', 'policy_denied']],
  ] as const)(
    'shows and runs only what the request asks for; %s (K-08, T-18c, T-23b, X-14)',
    async (_, toolIds, offered, outcomes) => {
      model.script = inOrder({ calls: [calls.query] }, { calls: [calls.update] });
      model.asked.length = 0;
      const response = await system.ask({ group: ['knowledge', 'admin'], toolIds });
      const shown = model.asked.map(({ tools }) => tools.map(({ id }) => id));
      expect(shown.slice(0, 2)).toEqual(offered);
      expect(response.history.map(({ outcome }) => outcome)).toEqual(outcomes);
      const refused = response.history.filter(({ outcome }) => outcome !== 'ok');
      for (const { reason } of refused) expect(['grant_invalid', 'not_eligible_state']).toContain(reason);
    },
  );

  it('moves no state where the tool fails (G-26, XB-12)', async () => {
    const response = await play(['read-only'], { calls: [[ids.query, '{"sparql":"SELECT nonsense"}']] });
    expect(response.history[0]).toMatchObject({ outcome: 'execution', state: 'undefined' });
    expect(response.run?.stateTransitions).toEqual([]);
  });

  it('refuses a call without tools, and the run still ends with an answer (XG-21, G-144)', async () => {
    const response = await play([], { calls: [calls.query] });
    expect(response).toMatchObject({ kind: 'answer', history: [{ outcome: 'policy_denied' }] });
  });

  it.each([
    [0, false],
    [1, true],
    [128, true],
    [129, false],
  ])(
    'replaces a tool call id that is too long or empty, the same from start to result: %i characters, kept %s (L-01, X-15, T-05a, T-05b)',
    async (length, kept) => {
      const given = 'x'.repeat(length);
      const requestId = `id-of-${length}`;
      model.asked.length = 0;
      model.script = inOrder({ calls: [calls.query] });
      const turn = model.turn.bind(model);
      model.turn = async (request) => {
        const said = await turn(request);
        return { ...said, calls: said.calls.map((call) => ({ ...call, toolCallId: given })) };
      };
      try {
        const response = await system.ask({ requestId, group: ['read-only'] });
        const id = response.history[0]?.toolCallId as string;
        expect(id === given).toBe(kept);
        expect(id.length).toBeGreaterThan(0);
        expect(id.length).toBeLessThanOrEqual(128);
        const events = (await system.all('agent.progress')).filter(
          ({ record }) => record.requestId === requestId && record.kind.startsWith('tool_call'),
        );
        expect(events.map(({ record }) => [record.kind, record.toolCallId])).toEqual([
          ['tool_call_start', id],
          ['tool_call_result', id],
        ]);
      } finally {
        model.turn = turn;
      }
    },
  );
});

describe('what a run may use', () => {
  const model = new ScriptedModel(({ history, state }) =>
    history.length > 60 ? { answer: 'far' } : { calls: [state === 'undefined' ? calls.query : calls.reset] },
  );
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(
      workflowConfiguration({ limits: 'limits: { max_iterations: 4, run_seconds: 30, history_bytes: 4096 }' }),
      model,
    );
  });
  afterAll(() => system.close());

  it('ends at max_iterations with a clear AgentResponse (XB-29, G-86)', async () => {
    const response = await system.ask({ group: ['*'] });
    expect(response).toMatchObject({
      kind: 'error',
      iterations: 4,
      error: { code: 'max_iterations', message: expect.stringContaining('4 iterations') },
    });
    expect(response.history).toHaveLength(4);
  });

  it('may be asked for fewer, not for more', async () => {
    expect(await system.ask({ group: ['*'], maxIterations: 1 })).toMatchObject({
      iterations: 1,
      error: { code: 'max_iterations' },
    });
    expect(await system.ask({ group: ['*'], maxIterations: 50 })).toMatchObject({ iterations: 4 });
  });

  it('ends at its deadline, also while the model is thinking', async () => {
    const before = model.script;
    model.script = () => new Promise(() => undefined);
    const turn = model.turn.bind(model);
    model.turn = (request, ...rest) => {
      const { signal } = (rest as unknown as [{ signal: AbortSignal }])[0];
      return Promise.race([
        turn(request),
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      ]);
    };
    try {
      const start = Date.now();
      const response = await system.ask({ group: ['*'], deadline: Date.now() + 300 });
      expect(response).toMatchObject({ kind: 'error', error: { code: 'deadline_exceeded' } });
      expect(Date.now() - start).toBeLessThan(20_000);
      expect(await system.ask({ deadline: 1 })).toMatchObject({ error: { code: 'deadline_exceeded' }, iterations: 0 });
    } finally {
      model.turn = turn;
      model.script = before;
    }
  });

  it('ends where its history is over the budget', async () => {
    const step = {
      thought: 't',
      action: 'a',
      arguments: '{}',
      observation: 'x'.repeat(5_000),
      outcome: 'ok',
      reason: null,
      stateBefore: 'undefined',
      state: 'undefined',
      toolCallId: 'c',
      iteration: 0,
      index: 0,
      startedAt: 0,
      endedAt: 0,
      resultHash: null,
      agentRun: null,
      providerData: null,
      cachedAt: null,
      documentation: null,
      content: [],
      questions: [],
      rule: null,
      facts: {},
      edited: null,
    };
    expect(await system.ask({ group: ['*'], history: [step] })).toMatchObject({
      kind: 'error',
      error: { code: 'size_exceeded' },
      iterations: 0,
    });
  });
});
