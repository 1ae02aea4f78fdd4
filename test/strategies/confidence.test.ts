import { afterEach, describe, expect, it } from '@jest/globals';
import type { AgentResponse, StrategyDecision } from '@sluice/contracts';
import { asked, decide, short } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import type { TestSystem } from '../harness/system.js';
import { callOr, glossaryId, lookupId, review, rows, startMeasured } from '../harness/with-confidence.js';
import { ids, step } from '../harness/with-plans.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startMeasured>): ReturnType<typeof startMeasured> {
  const started = await startMeasured(...given);
  system = started.opened;
  return started;
}

/** The decisions of a run: those of its calls, then that of its end; and that a replay decides all of them again. */
async function decisions(opened: TestSystem, response: AgentResponse): Promise<StrategyDecision[]> {
  expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  const turns = await opened.all('agent.tool-calls');
  return [...turns.map(({ record }) => record.decision), response.decision].filter((one) => one !== null);
}

const actions = (of: readonly StrategyDecision[]) =>
  of.map(({ action, step: number, attempt }) => [action, number, attempt]);

describe('a run whose results are measured', () => {
  it('goes through its plan one step a turn, each result measured and written down (G-70)', async () => {
    const steps = [
      step([lookupId, rows(3)]),
      step(calls.query, { confidence: 0.1 }),
      step(calls.analysis, { after: [2] }),
    ];
    const { opened, model, end } = await running(steps, () => ({ answer: 'All is done.' }));
    const response = await end();
    expect(response.error).toBeNull();
    expect(short(response.history)).toEqual([
      ['make-plan', 'ok', null, 'undefined'],
      ['lookup', 'ok', null, 'undefined'],
      ['knowledge-query', 'ok', null, 'analysis'],
      ['complex-analysis', 'ok', null, 'results'],
    ]);
    expect(response.history.map(({ iteration, index }) => [iteration, index])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ]);
    expect(model.asked).toHaveLength(2);
    expect(response.run?.strategy).toEqual({ name: 'confidence', reason: '', brought: 0 });
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['call', 2, 1],
      ['call', 3, 1],
      ['answer', 0, 0],
    ]);
    expect(made[1]?.score).toBeNull();
    expect(made[2]?.score).toMatchObject({
      ...{ plan: 1, step: 1, attempt: 1, tool: lookupId, kind: 'graph', formula: 0.9, judged: null },
      ...{ confidence: 0.9, threshold: 0.6, accepted: 'threshold', inputs: { rows: 3, filled: 1, truncated: 0 } },
    });
    // The graph is empty, which this step’s own threshold lets pass.
    expect(made[3]?.score).toMatchObject({ confidence: 0.1, threshold: 0.1, accepted: 'threshold' });
    expect(made[4]).toMatchObject({ confidence: 0.1, score: { kind: 'mcp', step: 3 } });
    expect(await opened.metric('sluice_step_confidence_count', { kind: 'graph' })).toBe(2);
    expect(await opened.metric('sluice_strategy_decisions_total', { strategy: 'confidence', action: 'call' })).toBe(3);
  });

  it('shows its planner the tools of the request’s groups alone, with what each step is held to (G-67)', async () => {
    const { model, end } = await running([step([lookupId, rows(1)])], () => ({ answer: 'All is done.' }));
    await end({ group: ['read-only', 'advanced'] });
    const [asked] = model.asked;
    expect(asked?.planning?.map(({ id }) => id)).toEqual([ids.query, ids.text, ids.analysis, lookupId, glossaryId]);
    const schema = JSON.stringify(asked?.tools[0]?.inputSchema);
    for (const limit of ['confidence', 'retries', 'timeout_seconds']) expect(schema).toContain(`"${limit}"`);
    expect(schema).not.toContain('"review"');
    for (const hidden of [ids.update, ids.reset]) expect(asked?.tools[0]?.description).not.toContain(hidden);
  });

  it('is refused a plan with a tool that its steps cannot lead to, before anything runs (G-68)', async () => {
    const { opened, end } = await running(
      [step([lookupId, rows(1)]), step(calls.analysis)],
      () => ({ answer: 'Done.' }),
      {
        plan: 'max_plans: 1',
      },
    );
    const response = await end();
    expect(short(response.history)).toEqual([['make-plan', 'validation', 'plan_refused', 'undefined']]);
    expect(response.history[0]?.observation).toContain('Step 2');
    const made = await decisions(opened, response);
    expect(made.at(-1)).toMatchObject({ action: 'partial', confidence: null, partial: true });
    expect(response.answer).toMatch(/^Done\.\n\n\[Partial answer, confidence unknown\. The plan before was refused/);
  });

  it('makes one call a turn, whatever its model writes, and admits none beside the plan (G-69, G-72)', async () => {
    let first = true;
    const { opened, end } = await running(
      [{ tool: ids.query, why: 'Look' }, step(calls.analysis)],
      ({ tools }) => {
        if (tools.length === 0) return { answer: 'Done.' };
        // Both calls would be eligible when the turn begins; the first leaves the state of the second.
        const both = [calls.query, [ids.text, '{"prompt":"Hello"}']] as const;
        const chosen = first ? [[ids.text, '{"prompt":"Hello"}'] as const, calls.query] : both;
        first = false;
        return { calls: chosen };
      },
      { confidence: '{ threshold: 0.1 }' },
    );
    const response = await end();
    expect(short(response.history).map(([action, outcome]) => [action, outcome])).toEqual([
      ['make-plan', 'ok'],
      ['knowledge-query', 'ok'],
      ['complex-analysis', 'ok'],
    ]);
    await decisions(opened, response);
  });

  it('has a step refused whose tool was closed by what came before, and plans again (G-69)', async () => {
    const { opened, model, end } = await running([], () => ({ answer: 'All is done.' }), {
      limits: 'rules: { fresh: { tools: [glossary], history: { not_after: [text-completion] } } }',
    });
    const { script } = model;
    const first = [step([lookupId, rows(0)], { retries: 0 }), step([glossaryId, rows(1)])];
    let plans = 0;
    model.script = (request) => {
      if (request.planning !== undefined)
        return { calls: [[ids.plan, JSON.stringify({ steps: plans++ === 0 ? first : [] })]] };
      if (request.question === 'What is there?') return { answer: 'There is a lot to be seen here.' };
      // The plan was walked without the text that stands in for the first step’s result, and which closes the second
      // step’s tool.
      return request.tools.length > 0 ? { calls: [[ids.text, '{"prompt":"What is there?"}']] } : script(request);
    };
    const response = await end({ question: 'Go' });
    expect(short(response.history)).toEqual([
      ['make-plan', 'ok', null, 'undefined'],
      ['lookup', 'ok', null, 'undefined'],
      ['text-completion', 'ok', null, 'undefined'],
      ['glossary', 'policy_denied', 'closed_by_history', 'undefined'],
      ['make-plan', 'ok', null, 'undefined'],
    ]);
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['simplify', 1, 2],
      ['call', 2, 1],
      ['plan', 0, 0],
      ['partial', 0, 0],
    ]);
    // The text is measured 0.85, and one step of two was given up.
    expect(made.at(-1)?.confidence).toBe(0.425);
    const simplified = model.asked.find(({ instructions }) => instructions.includes('simplest call'));
    expect(simplified?.tools.map(({ id }) => id)).toEqual([ids.text, lookupId, glossaryId]);
  });
});

describe('a result below its threshold', () => {
  it('has the model asked for other arguments, with the reason', async () => {
    const { opened, model, end } = await running(
      [step([lookupId, rows(0)]), step(calls.query, { confidence: 0 })],
      callOr(() => [lookupId, rows(2)]),
    );
    const response = await end();
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['retry', 1, 2],
      ['call', 2, 1],
      ['answer', 0, 0],
    ]);
    expect(made[2]?.score).toMatchObject({ attempt: 1, confidence: 0.1, accepted: '' });
    expect(made[3]?.score).toMatchObject({ attempt: 2, confidence: 0.85, accepted: 'threshold' });
    expect(model.asked[1]?.instructions).toContain(
      'Attempt 1 at step 1 (core__lookup) has the confidence 0.1 and needs 0.6',
    );
    expect(model.asked[1]?.tools.map(({ id }) => id)).toEqual([lookupId]);
  });

  it('gets a simpler call once its retries are used up, of any reading tool that leads where the step does', async () => {
    const { opened, model, end } = await running(
      [step([lookupId, rows(0)])],
      callOr(({ instructions }) => (instructions.includes('simplest') ? [glossaryId, rows(1)] : [lookupId, rows(0)])),
    );
    const response = await end();
    expect(short(response.history).map(([action]) => action)).toEqual(['make-plan', 'lookup', 'lookup', 'glossary']);
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['retry', 1, 2],
      ['simplify', 1, 3],
      ['answer', 0, 0],
    ]);
    const simplified = model.asked.find(({ instructions }) => instructions.includes('simplest'));
    // Text completion leads to the state in which the run is.
    expect(simplified?.tools.map(({ id }) => id)).toEqual([ids.text, lookupId, glossaryId]);
    expect(made.at(-1)).toMatchObject({
      confidence: 0.8,
      score: { attempt: 3, tool: glossaryId, accepted: 'threshold' },
    });
  });

  it('the model may let pass, which raises no figure', async () => {
    const { opened, model, end } = await running(
      [step(calls.query), step(calls.analysis)],
      callOr(({ review: asked }) => [ids.plan, asked?.kind === 'override' ? review({ decision: 'accept' }) : '{}']),
      { confidence: '{ simplify: false }' },
    );
    const response = await end();
    const made = await decisions(opened, response);
    // The query is not available in the state that it led to, so nothing is tried again.
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['override', 1, 1],
      ['call', 2, 1],
      ['answer', 0, 0],
    ]);
    expect(made[3]?.score).toMatchObject({ step: 1, confidence: 0.1, accepted: 'override' });
    expect(made[4]?.confidence).toBe(0.1);
    const overriding = JSON.stringify(model.asked[1]?.tools[0]?.inputSchema);
    expect(overriding).toContain('"decision"');
    expect(overriding).not.toContain('"steps"');
  });

  it('the model may answer with a new plan, and with none beyond those that it may have', async () => {
    const again = JSON.stringify({ steps: [step([lookupId, rows(0)])] });
    const { opened, end } = await running(
      [step([lookupId, rows(0)])],
      callOr(({ review: asked }) => (asked === undefined ? [lookupId, rows(0)] : [ids.plan, again])),
      { plan: 'max_plans: 2', confidence: '{ simplify: false, retries: 0 }' },
    );
    const response = await end();
    const made = await decisions(opened, response);
    expect(actions(made).map(([action]) => action)).toEqual([
      'plan',
      'call',
      'override',
      'call',
      'override',
      'partial',
    ]);
    expect(response.history.at(-1)).toMatchObject({ outcome: 'validation', reason: 'plan_refused' });
    expect(response.decision?.reason).toContain('The run has made all of its 2 plans.');
  });

  it('ends with a partial answer that says how sure it is, where the model stops or no one may override', async () => {
    const steps = [step([lookupId, rows(1)]), step(calls.query), step(calls.analysis)];
    for (const override of ['model', 'none']) {
      const { opened, end } = await running(
        steps,
        callOr(() => [ids.plan, review({ decision: 'stop', why: 'There is nothing.' })]),
        { confidence: `{ override: ${override}, simplify: false }` },
      );
      const response = await end();
      const made = await decisions(opened, response);
      expect(made.at(-1)).toMatchObject({ action: 'partial', confidence: 0.2667 });
      expect(response.answer).toMatch(/^All is done\.\n\n\[Partial answer, confidence 0\.2667\. /);
      expect(response.answer).toContain(
        override === 'model' ? 'There is nothing.' : 'has the confidence 0.1 and needs 0.6',
      );
      expect(short(response.history).at(-1)?.[0]).toBe(override === 'model' ? 'make-plan' : 'knowledge-query');
      await opened.close();
      system = undefined;
    }
  });

  it('a person may let pass, or not: the run waits, and says who decides (K-67)', async () => {
    const given = {
      confidence: '{ override: person, simplify: false }',
      policy: "\n  approval: { approvers: ['*'], effects: [] }",
    };
    for (const decision of ['approve', 'refuse']) {
      const { opened, end } = await running(
        [step(calls.query), step(calls.analysis)],
        () => ({ answer: 'All is done.' }),
        given,
      );
      const ended = end();
      const waiting = await asked(opened);
      expect(waiting.requested.tool).toBe(ids.plan);
      expect(JSON.parse(waiting.requested.arguments)).toMatchObject({
        review: { decision: 'accept', step: 1, confidence: 0.1 },
      });
      await decide(opened, waiting, decision, decision === 'refuse' ? { reason: 'It is empty.' } : {});
      const response = await ended;
      const made = await decisions(opened, response);
      expect(made.at(-1)?.action).toBe(decision === 'approve' ? 'answer' : 'partial');
      expect(short(response.history).map(([action, outcome, reason]) => [action, outcome, reason])).toEqual([
        ['make-plan', 'ok', null],
        ['knowledge-query', 'ok', null],
        ...(decision === 'approve'
          ? [
              ['make-plan', 'ok', null],
              ['complex-analysis', 'ok', null],
            ]
          : [['make-plan', 'policy_denied', 'approval_refused']]),
      ]);
      if (decision === 'refuse') expect(response.answer).toContain('It is empty.');
      await opened.close();
      system = undefined;
    }
  });

  it('is never tried again where its call may have changed something', async () => {
    const { opened, end } = await running(
      [step(calls.query, { confidence: 0 }), step(calls.update, { confidence: 1, retries: 3 })],
      callOr(() => [ids.plan, review({ decision: 'stop' })]),
    );
    const response = await end();
    expect(short(response.history).map(([action]) => action)).toEqual([
      ...['make-plan', 'knowledge-query', 'graph-update', 'make-plan'],
    ]);
    const made = await decisions(opened, response);
    expect(made.at(-2)).toMatchObject({
      action: 'override',
      score: { kind: 'change', confidence: 0.95, threshold: 1 },
    });
  });
});

describe('a step that fails', () => {
  it('is made again with other arguments, then planned again, then answered in part', async () => {
    const wrong = '{"sparql":"NONSENSE"}';
    const { opened, end } = await running(
      [step([lookupId, wrong])],
      callOr(() => [lookupId, wrong]),
      {
        plan: 'max_plans: 2',
        confidence: '{ simplify: false }',
      },
    );
    const response = await end();
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ...[
        ['plan', 0, 0],
        ['call', 1, 1],
        ['retry', 1, 2],
      ],
      ...[
        ['plan', 0, 0],
        ['call', 1, 1],
        ['retry', 1, 2],
      ],
      ['partial', 0, 0],
    ]);
    expect(made.at(-1)).toMatchObject({ confidence: 0, score: { kind: 'failed', confidence: 0 } });
  });

  it('fails when the time that the plan gives it is up', async () => {
    const slow = async (): Promise<{ answer: string }> => {
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return { answer: 'Too late.' };
    };
    const { opened, end } = await running(
      [step([ids.text, '{"prompt":"Take your time"}'], { timeout_seconds: 1, retries: 0 })],
      (request) => (request.question === 'Take your time' ? slow() : { answer: 'All is done.' }),
      { plan: 'max_plans: 1', confidence: '{ simplify: false }' },
    );
    const response = await end();
    expect(short(response.history)[1]?.slice(0, 3)).toEqual(['text-completion', 'execution', 'timeout']);
    await decisions(opened, response);
  });
});

describe('a model that judges', () => {
  it('can lower what a formula gives, and raises nothing', async () => {
    const said = [0.2, 0.99];
    const { opened, model, end } = await running(
      [step([lookupId, rows(5)])],
      callOr(({ review: asked }) =>
        asked?.kind === 'judge' ? [ids.plan, review({ confidence: said.shift() ?? 1 })] : [lookupId, rows(1)],
      ),
      { confidence: '{ judge: model }' },
    );
    const response = await end();
    const made = await decisions(opened, response);
    expect(actions(made)).toEqual([
      ['plan', 0, 0],
      ['call', 1, 1],
      ['judge', 1, 1],
      ['retry', 1, 2],
      ['judge', 1, 2],
      ['answer', 0, 0],
    ]);
    expect(made[3]?.score).toMatchObject({ formula: 1, judged: 0.2, confidence: 0.2, accepted: '' });
    expect(made[5]?.score).toMatchObject({ formula: 0.8, judged: 0.99, confidence: 0.8, accepted: 'threshold' });
    expect(model.asked[1]?.tools.map(({ id }) => id)).toEqual([ids.plan]);
  });

  it('says nothing with `0.0`: however it is spelled, it is a number', async () => {
    const said = ['0.0', '0.10', '9.0e-1'];
    const { opened, end } = await running(
      [step([lookupId, rows(5)])],
      callOr(({ review: asked }) =>
        asked?.kind === 'judge'
          ? [ids.plan, `{"review":{"why":"w","confidence":${said.shift() ?? '1.0'}}}`]
          : [lookupId, rows(5)],
      ),
      { confidence: '{ judge: model, retries: 2 }' },
    );
    const made = await decisions(opened, await end());
    expect(actions(made).map(([action]) => action)).toEqual([
      ...['plan', 'call', 'judge', 'retry', 'judge', 'retry', 'judge', 'answer'],
    ]);
    expect(made.map(({ score }) => score?.judged).filter((one) => one !== null && one !== undefined)).toEqual([
      ...[0, 0.1, 0.9],
    ]);
  });

  it('and gives steps instead makes a new plan, as long as the run may have one; then the formula’s word counts', async () => {
    const again = JSON.stringify({ steps: [step([lookupId, rows(4)])] });
    const { opened, end } = await running(
      [step([lookupId, rows(5)])],
      callOr(() => [ids.plan, again]),
      { plan: 'max_plans: 2', confidence: '{ judge: model }' },
    );
    const response = await end();
    const made = await decisions(opened, response);
    expect(actions(made).map(([action]) => action)).toEqual(['plan', 'call', 'judge', 'call', 'judge', 'answer']);
    expect(response.history.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
      ...['ok', 'ok', 'ok', 'ok', 'plan_refused'],
    ]);
    expect(response.decision).toMatchObject({ action: 'answer', plan: 2 });
  });

  it('makes a plan need two turns a step, and one that has them not is refused', async () => {
    const steps = Array.from({ length: 5 }, () => step([lookupId, rows(1)]));
    const { end } = await running(steps, () => ({ answer: 'Done.' }), {
      plan: 'max_plans: 1',
      confidence: '{ judge: model }',
    });
    const response = await end({ maxIterations: 11 });
    expect(response.history[0]?.reason).toBe('plan_refused');
    expect(response.history[0]?.observation).toContain('5 steps of 2 turns each');
  });
});

describe('the context of a run whose results are measured', () => {
  it('is its own steps alone, within the tokens that it may have', async () => {
    const some = Array.from({ length: 14 }, (_, n) => String(n)).join(' ');
    const text = 'some text that fills the prompt '.repeat(3);
    const long = JSON.stringify({
      sparql: `SELECT ?a ?b ("${text}" AS ?t) WHERE { VALUES ?a { ${some} } VALUES ?b { ${some} } }`,
    });
    const { opened, model, end } = await running(
      [step([lookupId, long]), step([glossaryId, long]), { tool: lookupId, after: [1], why: 'Look again' }],
      callOr(() => [lookupId, rows(1)]),
      { confidence: '{ context_tokens: 6000, threshold: 0.5 }' },
    );
    const first = await end();
    expect(first.error).toBeNull();
    const later = model.asked.find(({ toolChoice }) => toolChoice.type === 'tool' && toolChoice.id === lookupId);
    const texts = later?.history.map(({ action, observation }) => [action, observation.includes('is left out here')]);
    // The last result has room whole, the one before it in brief, and the plan none.
    expect(texts).toEqual([
      ['lookup', true],
      ['glossary', false],
    ]);
    const brought = first.history.map((one) => ({ ...one, startedAt: 1, endedAt: 2 }));
    const seen = model.asked.length;
    const second = await end({ requestId: 'run-2', sessionId: 'session-2', history: brought.slice(0, 2) });
    expect(second.run?.strategy?.brought).toBe(2);
    expect(model.asked[seen]?.history).toEqual([]);
    await decisions(opened, second);
  });

  it('ends with a partial answer in the last turn that the run has', async () => {
    const { opened, end } = await running(
      [step([lookupId, rows(0)]), step([glossaryId, rows(1)])],
      callOr(() => [lookupId, rows(0)]),
    );
    const response = await end({ maxIterations: 4 });
    const made = await decisions(opened, response);
    expect(response.error).toBeNull();
    expect(made.at(-1)).toMatchObject({ action: 'partial', confidence: 0 });
    expect(response.answer).toContain('The run has no turn left but this one, with 0 of 2 steps of the plan done.');
  });
});

describe('an agent that works by confidence', () => {
  it('gives its answer to the run that called it (K-62)', async () => {
    const entries =
      '  helper: { type: agent, description: Helps, group: [helpers], agent: { group: [read-only], strategy: confidence } }\n';
    const { opened, model, end } = await running([step([lookupId, rows(1)])], () => ({ answer: 'All is done.' }), {
      ...{ entries, agents: '{}', allowed: ', helper', policy: '\n  allowed_agents: [helper]' },
    });
    const { script } = model;
    model.script = (request) =>
      request.question === 'Go' && request.history.length === 0
        ? { calls: [['core__helper', '{"question":"What is there?"}']] }
        : script(request);
    const response = await end({ question: 'Go' });
    expect([response.error, response.run?.strategy]).toEqual([null, null]);
    const turns = (await opened.all('agent.tool-calls')).filter(({ record }) => record.run.parent !== null);
    expect(turns.map(({ record }) => record.decision?.action)).toEqual(['plan', 'call']);
    await decisions(opened, response);
  });
});
