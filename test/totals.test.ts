import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator, effectOnce, oneAmount, reserve } from '@sluice/core';
import type {
  BoundTool,
  Configuration,
  CountedCall,
  EffectClaims,
  Reconciliation,
  ToolExecResult,
  ToolInvocation,
} from '@sluice/core';
import { openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';
import { topics } from '@sluice/contracts';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import type { Reconsidered } from '@sluice/replay';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function playing(rules: string, ...turns: Said[]): Promise<TestSystem> {
  const model = new ScriptedModel(inOrder(...turns));
  const configuration = workflowConfiguration({ limits: rules }).replaceAll(
    /\n {4}(?:state|available_in_states): .*/g,
    '',
  );
  return (system = await startSystem(configuration, model));
}

async function underRules({ bus }: TestSystem, change: (own: Configuration) => Configuration): Promise<Reconsidered[]> {
  const configs = [];
  for await (const { record } of bus.read([topics.config], { from: 'start' })) configs.push(record);
  const own = JSON.parse(configs.at(-1)?.configuration ?? '') as Configuration;
  const found: Reconsidered[] = [];
  const signal = new AbortController().signal;
  const given = { authorizerOf, verifier: unverified, signal, onUndecodable: undecodable, selection: everything };
  for await (const one of whatIf(bus, { ...given, candidate: compileEvaluator(change(own)) })) found.push(one);
  return found.filter(({ changes, notReplayable }) => changes.length > 0 || notReplayable !== null);
}

async function expectEqualReplay({ bus }: TestSystem): Promise<void> {
  const decisions = await replayed(bus, null);
  expect(decisions.length).toBeGreaterThan(0);
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
}

const short = (history: readonly { action: string; outcome: string; reason: string | null }[]) =>
  history.map(({ action, outcome, reason }) => [action, outcome, reason]);

const sized = (size: number | string) => [ids.analysis, JSON.stringify({ rows: [{ name: 'a', size }] })] as const;

const free = { group: ['write', 'compute', 'knowledge'], state: 'analysis' } as const;

describe('totals', () => {
  it('hold over runs, name the rule and what is left, and are replayed from the record', async () => {
    const opened = await playing(
      'rules: { few: { groups: [write], totals: [{ of: calls, at_most: 3, per: user, within: 1h }] } }',
      { calls: [calls.update, calls.update] },
    );
    const first = await opened.ask(free);
    expect(short(first.history)).toEqual([
      ['graph-update', 'ok', null],
      ['graph-update', 'ok', null],
    ]);
    const second = await opened.ask(free);
    expect(short(second.history)).toEqual([
      ['graph-update', 'ok', null],
      ['graph-update', 'policy_denied', 'total_used'],
    ]);
    expect(second.history[1]?.observation).toBe(
      'The rule "few" allows at most 3 calls of its tools per user within 1h, and 3 were made. Call it later, or go on without the call.',
    );
    const steps = (await opened.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ facts, rule }) => [Object.values(facts), rule])).toEqual([
      [['0'], null],
      [['1'], null],
      [['2'], null],
      [['3'], 'few'],
    ]);
    await expectEqualReplay(opened);
    expect(await underRules(opened, (own) => own)).toEqual([]);
    const { values } = await opened.embedded.runtime.metrics.ruleRefusals.get();
    expect(values.map(({ labels, value }) => [labels['rule'], labels['kind'], value])).toEqual([['few', 'total', 1]]);
  });

  it('are not recorded where another configuration asks for them, and so is what was called before', async () => {
    const opened = await playing('rules: { few: { groups: [write], history: { at_most: 9 } } }', {
      calls: [calls.update],
    });
    await opened.ask(free);
    const totals = [{ of: 'calls', atMost: 5, per: 'user', withinMs: 1_000 } as const];
    const under = async (more: object) =>
      (await underRules(opened, (own) => ({ ...own, rules: (own.rules ?? []).map((rule) => ({ ...rule, ...more })) })))
        .filter(({ topic }) => topic === 'agent.steps')
        .map(({ changes, notReplayable }) => [changes, notReplayable]);
    expect(await under({ totals })).toEqual([[[], 'What was used of the total of the rule “few” was not recorded.']]);
    const history = { after: [], notAfter: [ids.analysis], atMost: null, whileApproved: [] };
    const past = { within: 'user', inLastMs: 60_000 } as const;
    expect(await under({ history: { ...history, past } })).toEqual([
      [[], `What was called before (past/user/60000/${ids.analysis}) was not recorded.`],
    ]);
  });

  it('sum an argument, exactly; what-if says what another limit would do', async () => {
    const opened = await playing(
      'rules: { small: { groups: [compute], totals: [{ of: rows/*/size, at_most: 0.3, per: tenant, within: 1d }] } }',
      { calls: [sized(0.1), sized(0.2), sized(0.000001), sized('much')] },
    );
    const { history } = await opened.ask(free);
    expect(history.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['ok', null],
      ['ok', null],
      ['policy_denied', 'total_used'],
      ['policy_denied', 'arguments_out_of_bounds'],
    ]);
    expect(history[2]?.observation).toContain('per tenant within 1d, which this call would pass. Use less');
    expect(history[2]?.observation).not.toContain('were used');
    expect(history[3]?.observation).toContain('sums the argument rows/*/size, which has no number');
    await expectEqualReplay(opened);
    const limits = (atMost: number) => (own: Configuration) => ({
      ...own,
      rules: (own.rules ?? []).map((rule) => ({
        ...rule,
        totals: (rule.totals ?? []).map((one) => ({ ...one, atMost })),
      })),
    });
    expect((await underRules(opened, limits(1))).flatMap(({ changes }) => changes)).toMatchObject([
      { kind: 'call', tool: 'complex-analysis', index: 2, was: 'refused: total_used', would: 'made' },
    ]);
    expect((await underRules(opened, limits(0.1))).flatMap(({ changes }) => changes)).toMatchObject([
      { kind: 'call', tool: 'complex-analysis', index: 1, was: 'made', would: 'refused: total_used' },
    ]);
  });

  it('ask nothing of the ledger where no rule counts beyond the run', async () => {
    const opened = await playing('rules: { few: { groups: [write], history: { at_most: 3 } } }', {
      calls: [calls.update],
    });
    const { past } = opened.embedded.runtime;
    const asked: string[] = [];
    const watched = new Proxy(past, {
      get: (_, name) => (asked.push(String(name)), Reflect.get(past, name) as unknown),
    });
    Object.assign(opened.embedded.runtime, { past: watched });
    expect(short((await opened.ask(free)).history)).toEqual([['graph-update', 'ok', null]]);
    expect(asked.filter((name) => name !== 'sweep')).toEqual([]);
  });
});

describe('calls that two executors begin side by side', () => {
  let folder: string;
  let ledgers: readonly [SqliteLedger, SqliteLedger];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-totals-'));
    const file = join(folder, 'ledger.sqlite');
    ledgers = [await openSqliteLedger({ file }), await openSqliteLedger({ file })];
  });
  afterEach(async () => {
    for (const ledger of ledgers) await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const clock = { now: () => Date.now() };
  const scope = 'user';
  const counted = (atMost: bigint): CountedCall => ({
    reservation: {
      marks: [{ scope, item: 'sum', amount: oneAmount }],
      limits: [
        {
          ...{ scope, items: ['sum'], since: 0, isRunningOnly: false, adds: oneAmount, atMost: atMost * oneAmount },
          ...{ rule: 'r', total: { limit: { of: 'calls', atMost: 1, per: 'user', withinMs: 1_000 }, fact: 'f' } },
        },
      ],
      keepMs: 3_600_000,
    },
    onUsed: () => undefined,
    judgeAgain: () => Promise.resolve({ ok: true }),
  });
  const invocation = (callKey: string): ToolInvocation => ({
    ...{ toolId: 't', args: {}, argumentBytes: 2, callKey, timeoutMs: 100, signal: new AbortController().signal },
    context: { runId: 'r', sessionId: 's', toolCallId: callKey, actorId: 'user:u', tenantId: 't' },
  });
  const once: BoundTool = { effect: 'external_side_effect', repeatable: false } as BoundTool;

  /** An executor’s call, as far as it comes. */
  async function make(
    callKey: string,
    at: 0 | 1,
    effect: () => Promise<ToolExecResult>,
    { ask = 'unknown', tool = once }: { readonly ask?: Reconciliation; readonly tool?: BoundTool } = {},
  ): Promise<ToolExecResult> {
    const { past } = ledgers[at];
    const call = invocation(callKey);
    const claims: EffectClaims = {
      ...{ ledger: ledgers[at], clock, owner: `${at}/${callKey}`, retentionMs: 60_000, isAgain: false },
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
      reserve: (claim) => reserve(counted(20n), call, claim, { past, clock }),
      countEnd: (outcome) => past.end(callKey, outcome),
      onUnsettled: (_, error) => {
        throw error;
      },
    };
    const result = await effectOnce(tool, call, claims, effect, () => Promise.resolve(ask));
    if (result === 'waits') throw new Error('The call waits for no one.');
    return result;
  }

  const used = async (): Promise<bigint | undefined> =>
    (await ledgers[0].past.read([{ scope, item: 'sum', since: 0 }], Date.now()))[0]?.amount;

  it('never pass a total together, and what had no effect is given back', async () => {
    let effects = 0;
    const done = async (callKey: string): Promise<ToolExecResult> => {
      effects++;
      return { toolCallId: callKey, ok: true, value: null };
    };
    const all = Array.from({ length: 64 }, (_, at) => make(`k${at}`, (at % 2) as 0 | 1, () => done(`k${at}`)));
    const results = await Promise.all(all);
    expect(effects).toBe(20);
    expect(results.filter(({ ok }) => !ok)).toHaveLength(44);
    expect(results.find(({ ok }) => !ok)).toMatchObject({
      errorCode: 'policy_denied',
      reason: 'total_used',
      rule: 'r',
    });
    expect(await used()).toBe(20n * oneAmount);
  });

  it('give back what an unavailable tool reserved, and hold what a killed executor did', async () => {
    const away: ToolExecResult = { toolCallId: 'a', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' };
    await make('away', 0, () => Promise.resolve(away));
    expect(await used()).toBe(0n);
    // The first executor ends with its process between the reservation and the effect: nobody writes its end.
    const claim = { key: 'killed', owner: 'killed', now: Date.now(), ttlMs: 60_000 };
    await reserve(counted(20n), invocation('killed'), claim, { past: ledgers[0].past, clock });
    expect(await make('killed', 1, () => Promise.reject(new Error('It is not made again.')))).toMatchObject({
      reason: 'outcome_unknown',
    });
    expect(await used()).toBe(oneAmount);
    // Where the tool says that nothing happened, the call is made, and counted once.
    await reserve(counted(20n), invocation('asked'), { ...claim, key: 'asked' }, { past: ledgers[0].past, clock });
    const made = await make('asked', 1, () => Promise.resolve({ toolCallId: 'a', ok: true, value: 1 }), {
      ask: 'did not happen',
    });
    expect(made).toMatchObject({ ok: true });
    expect(await used()).toBe(2n * oneAmount);
  });

  it('give nothing back of a call that is made again: what was sent before may have had its effect', async () => {
    const away: ToolExecResult = { toolCallId: 'a', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' };
    const tool = { ...once, repeatable: true };
    const claim = { key: 'again', owner: 'killed', now: Date.now(), ttlMs: 60_000 };
    await reserve(counted(20n), invocation('again'), claim, { past: ledgers[0].past, clock });
    await make('again', 1, () => Promise.resolve(away), { tool });
    expect(await used()).toBe(oneAmount);
  });

  it('give back what they reserved before another attempt can claim the call', async () => {
    const away: ToolExecResult = { toolCallId: 'a', ok: false, errorCode: 'unavailable', safeMessage: 'Away.' };
    const [first] = ledgers;
    const release = first.release.bind(first);
    const amounts: (bigint | undefined)[] = [];
    first.release = async (...of) => {
      amounts.push(await used());
      return release(...of);
    };
    await make('away', 0, () => Promise.resolve(away));
    expect(amounts).toEqual([0n]);
  });
});
