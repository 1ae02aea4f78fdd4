import { afterEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator, Fault } from '@sluice/core';
import type { Configuration, Model, ModelRequest, ModelTurn, SpanBudget } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

const configuration = (spans: string) => `
model:
  provider: openai-compatible
  name: m
  base_url: "http://127.0.0.1:9/v1"
  max_output_tokens: 1000
  price: { input: 1, output: 10 }
tool:
  now: { type: get_current_time, group: [clock] }
  complete: { type: text-completion, group: [text] }
policy:
  allowed_tools: ['*']
  approval: { none: it is a test }
  budgets: { spans: ${spans} }
`;

/** Answers at once, and says that it read and wrote so many tokens. */
class Answering implements Model {
  readonly name = 'answering';
  asked = 0;
  say: (request: ModelRequest) => ModelTurn = () => this.answer(100, 300);

  turn(request: ModelRequest): Promise<ModelTurn> {
    this.asked++;
    return Promise.resolve(this.say(request));
  }

  answer(inputTokens: number, outputTokens: number): ModelTurn {
    return { thought: '', calls: [], answer: 'It is noon.', inputTokens, outputTokens };
  }
}

let system: TestSystem | null = null;
afterEach(async () => {
  await system?.close();
  system = null;
});

async function started(spans: string): Promise<{ readonly opened: TestSystem; readonly model: Answering }> {
  const model = new Answering();
  return { opened: (system = await startSystem(configuration(spans), model)), model };
}

async function expectEqualReplay({ bus }: TestSystem): Promise<void> {
  const decisions = await replayed(bus, null);
  expect(decisions.length).toBeGreaterThan(0);
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
}

async function changedUnder({ bus }: TestSystem, spans: readonly SpanBudget[]) {
  const configs = [];
  for await (const { record } of bus.read([topics.config], { from: 'start' })) configs.push(record);
  const own = JSON.parse(configs.at(-1)?.configuration ?? '') as Configuration;
  const policy = { ...own.policy, budgets: { ...own.policy.budgets, spans } };
  const found = [];
  const signal = new AbortController().signal;
  const given = { authorizerOf, verifier: unverified, signal, onUndecodable: undecodable, selection: everything };
  const candidate = compileEvaluator({ ...own, policy });
  for await (const one of whatIf(bus, { ...given, candidate })) found.push(...one.changes);
  return found;
}

describe('a budget of tokens over a span', () => {
  it('ends the run that it has no room for, names itself, opens again, and is replayed and asked about', async () => {
    const { opened, model } = await started('[{ per: user, within: 1d, tokens: 1800 }]');
    const { clock } = opened.embedded.runtime;
    const began = clock.now();
    let now = began;
    Object.assign(opened.embedded.runtime, { clock: { now: () => now } });
    const ask = () => opened.ask({ group: ['clock'], question: 'What time is it?' });
    const first = await ask();
    expect(first.answer).toBe('It is noon.');
    const [state] = first.model?.budgets ?? [];
    expect(state).toMatchObject({ per: 'user', withinMs: 86_400_000, unit: 'tokens', used: '0', opensAt: null });
    // What it is sent, and 1,000 tokens of a reply.
    expect(Number(state?.adds)).toBeGreaterThan(1_020);
    expect(Number(state?.adds)).toBeLessThan(1_400);
    now += 1_000;
    expect((await ask()).model?.budgets[0]?.used).toBe('400');
    // 1,000 tokens are left, and the next call may use more.
    const third = await ask();
    expect([third.error?.code, third.run?.iteration]).toEqual(['span_budget_exceeded', 1]);
    expect(third.budgets).toMatchObject([{ used: '800', opensAt: began + 86_400_000 }]);
    expect(third.error?.message).toBe(
      `The budget of 1800 tokens per user within 1d has no room for the model call, which may use ${state?.adds} tokens: 800 tokens are used or reserved. It has room again at ${new Date(began + 86_400_000).toISOString()}.`,
    );
    expect(model.asked).toBe(2);
    expect(await opened.metric('sluice_model_budget_refusals_total', { per: 'user', unit: 'tokens' })).toBe(1);
    now = began + 86_400_000;
    expect((await ask()).model?.budgets[0]?.used).toBe('400');
    await expectEqualReplay(opened);
    const span = { per: 'user', withinMs: 86_400_000 } as const;
    expect(await changedUnder(opened, [{ ...span, tokens: 1_800 }])).toEqual([]);
    expect(await changedUnder(opened, [{ ...span, tokens: 9_000 }])).toEqual([
      { kind: 'run', was: 'span_budget_exceeded', would: 'goes on' },
    ]);
    const ends = { kind: 'run', was: 'goes on', would: 'span_budget_exceeded' };
    expect(await changedUnder(opened, [{ ...span, tokens: 500 }])).toEqual([ends, ends, ends]);
    // Of another span nothing is recorded, so nothing is said of it.
    expect(await changedUnder(opened, [{ ...span, withinMs: 3_600_000, tokens: 1 }])).toEqual([
      { kind: 'run', was: 'span_budget_exceeded', would: 'goes on' },
    ]);
  });

  it('reserves before the call: of 64 runs at once no more are asked than it has room for', async () => {
    const { opened, model } = await started('[{ per: tenant, within: 1h, tokens: 12000, usd: 1 }]');
    const all = await Promise.all(Array.from({ length: 64 }, () => opened.ask({ group: ['clock'] })));
    const answered = all.filter(({ answer }) => answer !== null);
    expect(answered.length).toBe(model.asked);
    const used = model.asked * 400;
    expect(used).toBeLessThanOrEqual(12_000);
    expect(model.asked).toBeGreaterThanOrEqual(8);
    expect(all.filter(({ error }) => error?.code === 'span_budget_exceeded')).toHaveLength(64 - model.asked);
    await expectEqualReplay(opened);
  });

  it('gives back what a model that is away reserved, and refuses a call that is larger than the whole budget', async () => {
    const { opened, model } = await started(
      '[{ per: agent, within: 1h, usd: 0.0102 }, { per: user, within: 1h, tokens: 90000 }]',
    );
    const { past } = opened.embedded.runtime;
    const used = async () => {
      const scope = JSON.stringify(['agent', 'local', 'default']);
      const [one] = await past.read([{ scope, item: 'model/usd', since: 0 }], Date.now());
      return one?.amount;
    };
    let isAway = true;
    model.say = () => {
      if (!isAway) return model.answer(100, 10);
      isAway = false;
      throw new Fault('model_unreachable', 'Away.', true);
    };
    // 100 tokens at 1 dollar a million, and 10 at 10 dollars.
    expect((await opened.ask({ group: ['clock'], question: 'Now?' })).answer).toBe('It is noon.');
    expect(await used()).toBe(200n);
    const { error, budgets } = await opened.ask({ group: ['clock'], question: 'Now? '.repeat(400) });
    expect(error?.message).toMatch(/may use 0\.01\d+ US dollars, which is more than the whole budget of 0\.0102 US/);
    expect(budgets.map(({ unit, opensAt }) => [unit, opensAt])).toEqual([
      ['usd', null],
      ['tokens', null],
    ]);
    expect(model.asked).toBe(2);
  });

  it('counts the texts that a tool asks a model for, and refuses such a call that it has no room for', async () => {
    const { opened, model } = await started(
      '[{ per: user, within: 1h, tokens: 1420 }, { per: tenant, within: 1h, tokens: 9000 }]',
    );
    model.say = ({ history, tools }) => {
      if (history.length > 0 || tools.length === 0) return model.answer(100, 300);
      const call = { toolCallId: 'c', tool: 'core__complete', arguments: '{"prompt":"Write a line about the sea."}' };
      return { thought: '', calls: [call], answer: null, inputTokens: 100, outputTokens: 300 };
    };
    const { error, history } = await opened.ask({ group: ['text'], question: 'A line?' });
    expect(history.map(({ outcome }) => outcome)).toEqual(['unavailable']);
    expect(history[0]?.observation).toMatch(/The budget of 1420 tokens per user within 1h has no room/);
    expect([error?.code, model.asked]).toEqual(['span_budget_exceeded', 1]);
    await opened.close();
    const other = await started('[{ per: user, within: 1h, tokens: 9000 }]');
    other.model.say = model.say;
    const done = await other.opened.ask({ group: ['text'], question: 'A line?' });
    expect([done.history[0]?.outcome, done.model?.budgets[0]?.used]).toEqual(['ok', '800']);
    await expectEqualReplay(other.opened);
  });
});
