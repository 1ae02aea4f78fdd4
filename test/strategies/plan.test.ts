import { afterEach, describe, expect, it } from '@jest/globals';
import { suretyOf } from '@sluice/run';
import { asked, decide, short } from '../harness/approving.js';
import { applyTo, versioned } from '../harness/applied.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { ids, planned, planner, startPlans, step, wholeWorkflow } from '../harness/with-plans.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startPlans>): ReturnType<typeof startPlans> {
  const started = await startPlans(...given);
  system = started.opened;
  return started;
}

async function unlike({ bus }: TestSystem): Promise<unknown[]> {
  return (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');
}

describe('a run that works by a plan', () => {
  it('makes the plan’s calls one a turn, without asking the model, and answers at its end (G-70)', async () => {
    const { opened, model, end } = await running(planner([planned(...wholeWorkflow)]));
    const response = await end();
    expect(response.error).toBeNull();
    expect(response.answer).toBe('All is done.');
    expect(short(response.history)).toEqual([
      ['make-plan', 'ok', null, 'undefined'],
      ['knowledge-query', 'ok', null, 'analysis'],
      ['complex-analysis', 'ok', null, 'results'],
      ['reset-workflow', 'ok', null, 'undefined'],
    ]);
    // One turn each: the state changes between steps, never within one.
    expect(response.history.map(({ iteration, index }) => [iteration, index])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ]);
    expect(model.asked).toHaveLength(2);
    const turns = await opened.all('agent.tool-calls');
    expect(turns.map(({ record: { decision, model: by } }) => [decision?.action, decision?.step, by === null])).toEqual(
      [
        ['plan', 0, false],
        ['call', 1, true],
        ['call', 2, true],
        ['call', 3, true],
      ],
    );
    expect(response.decision).toMatchObject({ strategy: 'plan', action: 'answer', plan: 1 });
    expect(response.run?.strategy).toEqual({ name: 'plan', reason: '', brought: 0 });
    expect(await opened.metric('sluice_strategy_decisions_total', { strategy: 'plan', action: 'call' })).toBe(3);
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('what a planner is shown (G-67)', () => {
  it('is the tools of the request’s groups alone, of this state and those that they lead to', async () => {
    const { model, end } = await running(planner([planned(step(calls.query), step(calls.analysis))]));
    await end({ group: ['read-only', 'advanced'] });
    const [asked] = model.asked;
    expect(asked?.tools.map(({ id }) => id)).toEqual([ids.plan]);
    expect(asked?.toolChoice).toEqual({ type: 'tool', id: ids.plan });
    expect(asked?.planning?.map(({ id }) => id)).toEqual([ids.query, ids.text, ids.analysis]);
    const text = asked?.tools[0]?.description ?? '';
    expect(text).toContain(`- ${ids.analysis} (in the states analysis; leads to the state results): Perform`);
    for (const hidden of [ids.update, ids.reset]) expect(text).not.toContain(hidden);
  });

  it('leaves out what no step can lead to', async () => {
    const { model, end } = await running(planner([planned()]));
    const response = await end({ group: ['advanced'] });
    expect(model.asked[0]?.planning).toEqual([]);
    expect([response.answer, response.decision?.reason]).toEqual(['All is done.', 'The plan has no steps.']);
  });
});

describe('a model that does not call the tool for plans', () => {
  it('gets a reminder and is asked once more, in the same turn', async () => {
    let asked = 0;
    const { opened, model, end } = await running(
      new ScriptedModel(({ planning }) => {
        if (planning === undefined) return { answer: 'All is done.' };
        return asked++ === 0 ? { answer: 'I would look it up.' } : planned(step(calls.query));
      }),
    );
    const response = await end();
    expect([response.error, response.answer, response.history.length]).toEqual([null, 'All is done.', 2]);
    const [first, second] = model.asked;
    expect(second?.instructions).toBe(
      `${first?.instructions ?? ''}\n\nYou did not call the tool ${ids.plan}. Your last reply was not taken. Reply with that call, and nothing else.`,
    );
    const [turn] = await opened.all('agent.tool-calls');
    expect(turn?.record.model?.askedAgain).toContain('You did not call');
    expect(turn?.record.run.outputTokens).toBe(2);
    expect(await unlike(opened)).toEqual([]);
  });

  it('and does not then either ends the run', async () => {
    const { model, end } = await running(new ScriptedModel(() => ({ answer: 'No plan.' })));
    const response = await end();
    expect(response.error?.message).toContain(`did not call the tool ${ids.plan}`);
    expect(model.asked).toHaveLength(2);
  });

  it('and gives a review instead has that counted as a plan that was refused', async () => {
    const review = { calls: [[ids.plan, '{"review":{"why":"w","confidence":0.10}}']] } as const;
    const { opened, model, end } = await running(planner([review]), { plan: '{ max_plans: 2 }' });
    const response = await end();
    expect(response.history.map(({ reason }) => reason)).toEqual(['plan_refused', 'plan_refused']);
    expect(response.history[0]?.observation).toContain('Give the steps of a plan, and no review.');
    expect(response.answer).toMatch(/^All is done\.\n\n\[Partial answer\. /);
    expect(model.asked).toHaveLength(3);
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('a plan that cannot be walked (G-68)', () => {
  const impossible = [
    ['needs a state that it does not reach', [step(calls.query), step(calls.reset), step(calls.analysis)], 'Step 3'],
    ['uses a tool that is closed at its beginning', [step(calls.analysis)], 'Step 1'],
    ['uses a tool that is not there', [step(['core__nothing', '{}'])], 'there is no tool of that name'],
    [
      'says another state than the step leads to',
      [step(calls.query, { state: 'results' })],
      'leads to the state analysis',
    ],
    ['needs the result of a later step', [step(calls.query, { after: [2] }), step(calls.analysis)], 'needs step 2'],
    ['plans a plan', [step([ids.plan, '{"steps":[]}'])], 'holds no other plan'],
    ['has more steps than turns are left', Array.from({ length: 9 }, () => step(calls.query)), '9 turns left'],
    ['has arguments that are no JSON', [step([ids.query, 'SELECT'])], 'no JSON object'],
    [
      'names a result in a form that nobody fills in',
      [step([ids.text, '{"prompt":"Say {step_1}"}']), step([ids.text, '{"prompt":"Dear {name}: $1.50"}'])],
      'Step 1 (core__text-completion) cannot be made: its arguments hold `{step_1}`',
    ],
    [
      'names a result that is no part of what its tool gives',
      [step(calls.query), step([ids.analysis, '{"rows":{"$step":1,"path":"/nothing"}}'])],
      'has nothing at /nothing',
    ],
    [
      'names the result of a later step',
      [step([ids.query, '{"sparql":{"$step":2}}']), step(calls.analysis)],
      'needs step 2',
    ],
  ] as const;
  it('is refused with the reason before anything runs, and another one is made', async () => {
    for (const [what, steps, why] of impossible) {
      const { opened, end } = await running(planner([planned(...steps), planned(...wholeWorkflow)]));
      const { history, error } = await end();
      expect([what, error]).toEqual([what, null]);
      const [first, second] = history;
      expect([first?.outcome, first?.reason, second?.action, second?.outcome]).toEqual([
        ...['validation', 'plan_refused', 'make-plan', 'ok'],
      ]);
      expect(first?.observation).toContain(why);
      expect(first?.observation).toContain('Nothing of the plan ran.');
      expect(history).toHaveLength(5);
      expect(await unlike(opened)).toEqual([]);
      await opened.close();
      system = undefined;
    }
  });

  it('is refused so often and no oftener; then the model answers with what there is', async () => {
    const bad = planned(step(calls.reset));
    const { opened, model, end } = await running(planner([bad, bad, bad, bad]), { plan: '{ max_plans: 2 }' });
    const response = await end();
    expect(short(response.history)).toEqual([
      ['make-plan', 'validation', 'plan_refused', 'undefined'],
      ['make-plan', 'validation', 'plan_refused', 'undefined'],
    ]);
    expect(response.answer).toMatch(/^All is done\.\n\n\[Partial answer\. The plan before was refused: Step 1/);
    expect([model.asked.length, response.decision?.partial]).toEqual([3, true]);
    expect(suretyOf(response)).toEqual({ confidence: null, partial: response.decision?.reason });
    expect(response.decision?.reason).toContain('The run has made all of its 2 plans.');
    expect(model.asked[1]?.instructions).toContain('The plan before was refused: Step 1');
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('a step of a plan', () => {
  it('gets its arguments when its turn comes, where they hang on results before', async () => {
    const later = { tool: ids.analysis, after: [1], why: 'Look at it' };
    const extra = [calls.analysis, calls.reset] as const;
    const { opened, model, end } = await running(
      planner([planned(step(calls.query), later)], ({ tools }) =>
        tools.length === 0 ? { answer: 'All is done.' } : { calls: extra },
      ),
    );
    const response = await end();
    expect(short(response.history).map(([action, outcome]) => [action, outcome])).toEqual([
      ['make-plan', 'ok'],
      ['knowledge-query', 'ok'],
      ['complex-analysis', 'ok'],
    ]);
    const asked = model.asked.find(({ toolChoice }) => toolChoice.type === 'tool' && toolChoice.id === ids.analysis);
    expect(asked?.tools.map(({ id }) => id)).toEqual([ids.analysis]);
    expect(asked?.instructions).toContain('Step 2 of 2');
    expect(await unlike(opened)).toEqual([]);
  });

  it('gets a result where its arguments name it, and the numbers of the plan may be spelled anyhow', async () => {
    const sparql = 'SELECT ?name ?size WHERE { VALUES (?name ?size) { ("a" 1) ("b" 3) } }';
    const query = step([ids.query, JSON.stringify({ sparql })]);
    const rows = [query, step([ids.analysis, '{"rows": {"$step": 1.0, "path": "/rows"}}'])];
    const spelled = JSON.stringify({ steps: [...rows, step(calls.reset)] }).replace(
      '{"steps":[{',
      '{"steps":[{"confidence":5e-1,"retries":1.0,',
    );
    const { opened, model, end } = await running(planner([{ calls: [[ids.plan, spelled]] }]));
    const response = await end();
    expect(response.history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok']);
    const [, queried, analysis] = response.history;
    const { rows: found } = JSON.parse(queried?.observation ?? '') as { rows: unknown[] };
    expect(found).toHaveLength(2);
    expect(JSON.parse(analysis?.arguments ?? '')).toEqual({ rows: found });
    expect([model.asked.length, response.answer]).toEqual([2, 'All is done.']);
    expect(await unlike(opened)).toEqual([]);
  });

  it('has its arguments asked for where the result that they name is of another kind than its tool takes', async () => {
    const steps = [step(calls.query), step([ids.text, '{"prompt":{"$step":1,"path":"/rows/0/n"}}'])];
    const { opened, model, end } = await running(
      planner([planned(...steps)], ({ tools }) =>
        tools.length === 0 ? { answer: 'All is done.' } : { calls: [[ids.text, '{"prompt":"One"}']] },
      ),
    );
    const response = await end();
    expect(short(response.history).map(([action, outcome]) => [action, outcome])).toEqual([
      ...[
        ['make-plan', 'ok'],
        ['knowledge-query', 'ok'],
        ['text-completion', 'ok'],
      ],
    ]);
    expect(response.history[2]?.arguments).toBe('{"prompt":"One"}');
    expect(model.asked.map(({ instructions }) => instructions).join('\n')).toContain(
      'needs other arguments than were planned: the result of step 1 has no string at /rows/0/n',
    );
    expect(await unlike(opened)).toEqual([]);
  });

  it('that fails has the rest planned again, by what is known (G-69)', async () => {
    const wrong = [ids.query, '{"sparql":"NONSENSE"}'] as const;
    const { opened, model, end } = await running(
      planner([planned(step(wrong), step(calls.analysis)), planned(...wholeWorkflow)]),
    );
    const response = await end();
    expect(short(response.history).map(([action, outcome]) => [action, outcome])).toEqual([
      ['make-plan', 'ok'],
      ['knowledge-query', 'execution'],
      ['make-plan', 'ok'],
      ['knowledge-query', 'ok'],
      ['complex-analysis', 'ok'],
      ['reset-workflow', 'ok'],
    ]);
    expect(model.asked[1]?.instructions).toContain('Step 1 of the plan failed');
    expect(await unlike(opened)).toEqual([]);
  });

  it('whose tool is no longer available is refused when its turn comes, and the rest is planned again (G-69)', async () => {
    const later = { tool: ids.analysis, why: 'Look at it' };
    const without = { current: () => Promise.resolve() };
    const script = planner([planned(step(calls.query), later), planned()], () => ({ answer: 'All is done.' }));
    const { script: plans } = script;
    script.script = async (request) => {
      if (request.planning === undefined && request.tools.length > 0) {
        await without.current();
        return { calls: [calls.analysis] };
      }
      return plans(request);
    };
    const { opened, end } = await running(script);
    without.current = async () => {
      const { runtime } = opened.embedded;
      const { configuration } = runtime.configurations.current();
      const { policy } = configuration;
      const allowedTools = policy.allowedTools.filter((id) => id !== ids.analysis);
      const next = versioned({ ...configuration, policy: { ...policy, allowedTools } });
      await applyTo(runtime, next);
      await eventually(
        () => Promise.resolve(runtime.configurations.current().configuration.version),
        (version) => version === next.version,
      );
    };
    const response = await end();
    expect(short(response.history)).toEqual([
      ['make-plan', 'ok', null, 'undefined'],
      ['knowledge-query', 'ok', null, 'analysis'],
      ['complex-analysis', 'policy_denied', 'not_allowed', 'analysis'],
      ['make-plan', 'ok', null, 'analysis'],
    ]);
    expect(await unlike(opened)).toEqual([]);
  });

  it('is the only call: what a model calls beside the plan is refused, whatever it was offered', async () => {
    let asked = 0;
    const { opened, end } = await running(
      planner([planned(step(calls.query))], () => (asked++ === 0 ? { calls: [calls.analysis] } : { answer: 'Done.' })),
    );
    const response = await end();
    expect(short(response.history)).toEqual([
      ['make-plan', 'ok', null, 'undefined'],
      ['knowledge-query', 'ok', null, 'analysis'],
      ['complex-analysis', 'policy_denied', 'not_planned', 'analysis'],
    ]);
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('a plan that needs an approval', () => {
  const approving = { plan: '{ approve: true }', policy: "\n  approval: { approvers: ['*'], effects: [] }" };

  it('waits before anything runs; refused, another one is made; approved, it runs', async () => {
    const short = planned(step(calls.query));
    const { opened, end } = await running(planner([planned(...wholeWorkflow), short]), approving);
    const ended = end();
    const first = await asked(opened);
    expect([first.requested.tool, JSON.parse(first.requested.arguments)]).toEqual([
      ids.plan,
      { steps: wholeWorkflow.map((one) => ({ ...one })) },
    ]);
    expect((await opened.all('agent.steps')).length).toBe(0);
    await decide(opened, first, 'refuse', { reason: 'Only look.' });
    await decide(opened, await asked(opened, 2), 'approve');
    const response = await ended;
    expect(response.history.map(({ action, outcome, reason }) => [action, outcome, reason])).toEqual([
      ['make-plan', 'policy_denied', 'approval_refused'],
      ['make-plan', 'ok', null],
      ['knowledge-query', 'ok', null],
    ]);
    expect(response.history[0]?.observation).toContain('Only look.');
    expect(await unlike(opened)).toEqual([]);
  });

  it('needs no approval where it cannot be walked', async () => {
    const { opened, end } = await running(planner([planned(step(calls.reset))]), {
      ...approving,
      plan: '{ approve: true, max_plans: 1 }',
    });
    const response = await end();
    expect(response.history[0]?.reason).toBe('plan_refused');
    expect(await opened.all('agent.approvals')).toEqual([]);
  });
});

describe('which strategy a run has', () => {
  const either = { agents: '{ default: { strategies: [plan] } }' };

  it('is the request’s choice of those that the configuration lets it have', async () => {
    const { opened, end } = await running(planner([planned(step(calls.query))]), either);
    const reacting = await end({ requestId: 'run-2', sessionId: 'session-2' });
    expect([reacting.run?.strategy, reacting.decision, reacting.answer]).toEqual([null, null, 'All is done.']);
    const [toolset] = await opened.all('agent.toolsets');
    expect(toolset?.record.hidden).toContainEqual({ key: 'make-plan', reasons: ['strategy'] });
    const planning = await end({ strategy: 'plan' });
    expect(short(planning.history).map(([action]) => action)).toEqual(['make-plan', 'knowledge-query']);
    const refused = await end({ strategy: 'guess', requestId: 'run-3', sessionId: 'session-3' });
    expect(refused.error).toMatchObject({ code: 'invalid_request' });
    expect(refused.error?.message).toContain('Requests may choose: react, plan.');
    expect(await unlike(opened)).toEqual([]);
  });

  it('takes no plan that the request brought along for its own', async () => {
    const { opened, model, end } = await running(planner([planned(step(calls.query))]));
    const brought = (await end()).history.map((one) => ({ ...one, startedAt: 1, endedAt: 2 }));
    const response = await end({ requestId: 'run-2', sessionId: 'session-2', history: brought.slice(0, 1) });
    expect(short(response.history).map(([action]) => action)).toEqual(['make-plan', 'make-plan', 'knowledge-query']);
    expect([response.run?.strategy?.brought, model.asked.length]).toEqual([1, 4]);
    expect(await unlike(opened)).toEqual([]);
  });

  it('needs a tool that takes plans among those offered, and no tool_choice of another', async () => {
    const { end } = await running(planner([]));
    const without = await end({ group: ['text'] });
    expect([without.error?.code, without.error?.message]).toEqual([
      'invalid_request',
      expect.stringContaining('(plan)'),
    ]);
    const chosen = await end({ toolChoice: ids.text, requestId: 'run-2', sessionId: 'session-2' });
    expect(chosen.error?.message).toContain('tool_choice names a tool');
    const none = await end({ toolChoice: 'none', requestId: 'run-3', sessionId: 'session-3' });
    expect([none.answer, none.history]).toEqual(['All is done.', []]);
  });

  it('is that of an agent in its runs', async () => {
    const entries =
      '  helper: { type: agent, description: Helps, group: [helpers], agent: { group: [read-only], strategy: plan } }\n';
    const helper = ['core__helper', '{"question":"What is there?"}'] as const;
    const script = planner([planned(step(calls.query))]);
    const { script: plans } = script;
    script.script = (request) =>
      request.question === 'Go' && request.history.length === 0 ? { calls: [helper] } : plans(request);
    const { opened, end } = await running(script, {
      ...{ entries, agents: '{}', allowed: ', helper', policy: '\n  allowed_agents: [helper]' },
    });
    const response = await end();
    expect([response.error, response.run?.strategy]).toEqual([null, null]);
    const turns = (await opened.all('agent.tool-calls')).filter(({ record }) => record.run.parent !== null);
    expect(turns.map(({ record }) => record.decision?.action)).toEqual(['plan', 'call']);
    expect(await unlike(opened)).toEqual([]);
  });
});
