import { describe, expect, it } from '@jest/globals';
import type { AgentSettings, Evaluator, ModelSettings, Step } from '@sluice/core';
import { make } from '@sluice/contracts';
import type { Run, ToolCall, TurnModel } from '@sluice/contracts';
import { agentBeginning, agentRunOf, withTokens } from '@sluice/run';
import { mayAfford } from '../src/agent-runs.js';
import { stepResult } from '../src/steps.js';

const model = (name: string, price?: ModelSettings['price'], maxOutputTokens = 10): ModelSettings =>
  ({ provider: 'anthropic', name, maxOutputTokens, ...(price === undefined ? {} : { price }) }) as ModelSettings;
const cheap = model('cheap', { input: 1, output: 1 });
const dear = model('dear', { input: 10, output: 20, cachedInput: 5 }, 40);
const free = model('free');

const agent = (name: string) => ({ model: `anthropic/${name}`, groups: [], tokens: null, microUsd: null });
/** The configuration’s first model is cheap; the agent core__<name> asks the one of that name first. */
const under = (microUsdPerRun?: number): Evaluator =>
  ({
    configuration: {
      ...{ version: 'c-1', model: cheap, fallbacks: [dear, free], instructions: '', tools: [] },
      ...{ limits: { maxIterations: 5, runMs: 9_000 }, policy: { budgets: { microUsdPerRun, tools: {} } } },
    },
    byId: (id: string) => ({
      id,
      timeoutMs: 1_000,
      agent: agent(id.slice('core__'.length)) as unknown as AgentSettings,
    }),
  }) as unknown as Evaluator;

const others = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cacheWriteTokens: 0, microUsd: 50 };
const run = (more: Partial<Run> = {}): Run =>
  ({
    ...{
      parent: null,
      inputTokens: 100,
      outputTokens: 10,
      cachedInputTokens: 20,
      cacheWriteTokens: 0,
      otherModels: null,
    },
    ...{ definitionTokens: null, resultTokens: null, otherTokens: null, conditions: null, deadline: 9_000 },
    ...{ principal: { actorId: 'user:a', tenantId: 't', subjectId: null, groups: ['*'], connections: [] } },
    ...more,
  }) as unknown as Run;
const agentRun = (name: string, more: Partial<Run> = {}): Run =>
  run({ parent: { tool: `core__${name}` } as Run['parent'], ...more });

describe('the turn of a model that the run does not ask first', () => {
  const turn = (name: string) => ({
    ...{ inputTokens: 100, outputTokens: 10, cachedInputTokens: 40, cacheWriteTokens: 5 },
    model: { name: `anthropic/${name}`, definitionTokens: null, resultTokens: null, otherTokens: null } as TurnModel,
  });
  const microUsd = 60 * 10 + 40 * 5 + 10 * 20;

  it('is kept apart, at its price', () => {
    const after = withTokens(run(), turn('dear'), [cheap, dear, free]);
    expect(after).toMatchObject({ inputTokens: 200, outputTokens: 20, cachedInputTokens: 60, cacheWriteTokens: 5 });
    const one = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 40, cacheWriteTokens: 5, microUsd };
    expect(after.otherModels).toEqual(one);
    expect(withTokens(after, turn('dear'), [cheap, dear, free]).otherModels).toMatchObject({ microUsd: 2 * microUsd });
  });

  it('is the run’s own where it is the first one’s, where it has no price, and where none was asked', () => {
    expect(withTokens(run(), turn('dear'), [dear, cheap, free]).otherModels).toBeNull();
    expect(withTokens(run(), turn('free'), [cheap, dear, free]).otherModels).toBeNull();
    const planned = { inputTokens: 0, outputTokens: 0, model: null };
    expect(withTokens(run({ otherModels: others }), planned, [cheap, dear, free]).otherModels).toEqual(others);
  });
});

describe('what an agent’s run leaves in the one that called it', () => {
  const left = (of: Run, calling = run()) => agentRunOf({ requestId: 'agent-1' }, of, calling, under()).otherModels;

  it('is all of it where its model is another one, its cache in the price alone', () => {
    const microUsd = 80 * 10 + 20 * 5 + 10 * 20;
    const all = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, microUsd };
    expect(left(agentRun('dear'))).toEqual(all);
    const mixed = left(agentRun('dear', { otherModels: others }));
    expect(mixed).toEqual({ ...all, microUsd: (80 - 7 + 2) * 10 + 18 * 5 + 7 * 20 + 50 });
  });

  it('is what others took of it where both ask the same one first, and where its own has no price', () => {
    const part = { ...others, cachedInputTokens: 0, cacheWriteTokens: 0 };
    expect([left(agentRun('cheap')), left(agentRun('free'))]).toEqual([null, null]);
    expect(left(agentRun('cheap', { otherModels: others }))).toEqual(part);
    expect(left(agentRun('free', { otherModels: others }))).toEqual(part);
    expect(left(agentRun('dear', { otherModels: others }), agentRun('dear'))).toEqual(part);
  });

  it('is nothing of a run that ended before a model was asked', () => {
    expect(left(agentRun('dear', { inputTokens: 0, outputTokens: 0 }))).toBeNull();
  });
});

describe('the money of a run with agents', () => {
  const share = {
    requestId: 'agent-1',
    inputTokens: 100,
    outputTokens: 10,
    otherModels: {
      ...others,
      inputTokens: 100,
      outputTokens: 10,
      microUsd: 2_000,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
    },
  };
  const done: Step = make.agentStep({ agentRun: make.agentRun(share) });
  const record = (name: string, more: Partial<Run> = {}): ToolCall =>
    ({
      ...{ requestId: 'r', sessionId: 's', iteration: 1, thought: '', configVersion: 'c-1' },
      calls: [{ toolCallId: 'one', tool: `core__${name}`, arguments: '{"question":"Who?"}' }],
      request: { connections: [], deadline: null, history: [] },
      run: run({ stateTransitions: [], ...more }),
    }) as unknown as ToolCall;

  it('has the agent’s share in the run that goes on', () => {
    const so = { state: 'undefined', calls: {}, answer: null, did: null };
    const after = stepResult(record('dear'), [done, done], so, 'c-1').run;
    expect(after).toMatchObject({ inputTokens: 300, outputTokens: 30, cachedInputTokens: 20 });
    expect(after.otherModels).toMatchObject({ inputTokens: 200, outputTokens: 20, microUsd: 4_000 });
  });

  it('leaves an agent what those before it in the turn did not use', () => {
    const handing = { agentRunId: 'agent-1', question: 'Who?', startedAt: 1_000, fanOut: null };
    const begun = (of: ToolCall, steps: readonly Step[]) => {
      const logged = { topic: 'agent.tool-calls', partition: 0, offset: 0, record: of } as const;
      const judges = { granting: under(5_000), inForce: under(5_000) };
      return agentBeginning(logged as never, 0, handing, steps, judges).run.parent?.maxMicroUsd;
    };
    expect(begun(record('dear'), [])).toBe(5_000 - 110);
    expect(begun(record('dear'), [done])).toBe(5_000 - 110 - 2_000);
    expect(begun(record('dear', { otherModels: others }), [done])).toBe(5_000 - 100 - 50 - 2_000);
    // The run is an agent’s with a dear model of its own.
    expect(begun(record('dear', { parent: { tool: 'core__dear' } as Run['parent'] }), [])).toBe(5_000 - 1_100);
  });

  it('is to last for a turn of the agent’s own model', () => {
    const may = (name: string, budget: number) => mayAfford(`core__${name}`, 'Who?', record(name), [under(budget)]).ok;
    const least = (name: string): number => {
      let budget = 0;
      while (!may(name, budget)) budget += 1;
      return budget;
    };
    const ofCheap = least('cheap') - 110 - 10;
    expect(least('dear')).toBe(110 + ofCheap * 10 + 40 * 20);
    // By the price of the first, where it has none.
    expect(least('free')).toBe(110 + ofCheap + 10);
  });
});
