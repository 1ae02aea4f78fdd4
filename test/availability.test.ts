import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import type { Reconsidered } from '@sluice/replay';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function playing(rules: string, ...turns: Said[]) {
  const model = new ScriptedModel(inOrder(...turns));
  const opened = (system = await startSystem(workflowConfiguration({ limits: rules }), model));
  return { opened, model };
}

/**
 * The time of the services from now on. It is later than any log of today, so that no record is from before its
 * configuration.
 */
function setTime({ embedded }: TestSystem, instant: string | number): void {
  const time = typeof instant === 'number' ? instant : Date.parse(instant);
  Object.assign(embedded.runtime, { clock: { now: () => time } });
}

/** What another configuration would change; the compiled one with these rules. */
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

describe('rules on when tools are available', () => {
  it('go by time at listing and at each call, and replay and what-if agree (G-171)', async () => {
    const office = `
rules:
  office: { groups: [write], time: { zone: Europe/Berlin, days: [mon, tue, wed, thu, fri], from: "08:00", until: "18:00" } }`;
    const { opened, model } = await playing(office, { calls: [calls.update] }, { calls: [calls.update] });
    // Monday, half a second before it closes: the turn is offered the tool, the second turn is not.
    setTime(opened, '2040-07-16T15:59:59.500Z');
    const open = await opened.ask({ group: ['write'], state: 'analysis' });
    expect(short(open.history)[0]).toEqual(['graph-update', 'ok', null]);
    expect(model.asked[0]?.tools.map(({ id }) => id)).toEqual([ids.update]);

    setTime(opened, '2040-07-16T16:00:00Z');
    const closed = await opened.ask({ group: ['write'], state: 'analysis' });
    expect(short(closed.history)[0]).toEqual(['graph-update', 'policy_denied', 'closed_by_time']);
    const toolsets = await opened.all('agent.toolsets');
    const naming = toolsets.findLast(({ record }) => record.list?.since === record.iteration);
    expect(naming?.record.hidden).toContainEqual({ key: 'graph-update', reasons: ['time'] });

    await expectEqualReplay(opened);
    expect(await underRules(opened, (own) => own)).toEqual([]);
    const longer = await underRules(opened, (own) => ({
      ...own,
      rules:
        own.rules?.map((rule) => ({ ...rule, ...(rule.time && { time: { ...rule.time, until: 20 * 60 } }) })) ?? [],
    }));
    expect(longer.flatMap(({ changes }) => changes)).toContainEqual({
      ...{ kind: 'call', tool: 'graph-update', index: 0, rule: 'office' },
      ...{ was: 'refused: closed_by_time', would: 'made' },
    });
  });

  it('go by the request: tenant, channel, claims and question; replay and what-if agree', async () => {
    const { opened, model } = await playing(
      `
rules:
  questions-only: { groups: [write], when: { channels: [http, kafka], languages: [en] }, unless: { tenants: [globex] } }
  never-long: { groups: [compute], when: { question_bytes: 40 } }`,
      { calls: [calls.update, calls.analysis] },
    );
    const asked = async (question: string) =>
      short((await opened.ask({ question, group: ['write', 'compute'], state: 'analysis' })).history);
    const update = ['graph-update', 'ok', null];
    const analysis = ['complex-analysis', 'ok', null];
    expect(await asked('What is the graph?')).toEqual([update, analysis]);
    expect(model.asked[0]?.tools.map(({ id }) => id)).toEqual([ids.update, ids.analysis]);
    expect(await asked('Was ist der Graph und wie groß ist er?')).toEqual([
      ['graph-update', 'policy_denied', 'closed_by_context'],
      analysis,
    ]);
    expect(await asked('What is the graph, and how many are the things that are in it?')).toEqual([
      update,
      ['complex-analysis', 'policy_denied', 'closed_by_context'],
    ]);
    await expectEqualReplay(opened);
    expect(await underRules(opened, (own) => own)).toEqual([]);
    const german = await underRules(opened, (own) => ({
      ...own,
      rules:
        own.rules?.map((rule) => ({ ...rule, ...(rule.when && { when: { ...rule.when, languages: ['de'] } }) })) ?? [],
    }));
    expect(german.filter(({ topic }) => topic === 'agent.steps').flatMap(({ changes }) => changes)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool: 'graph-update', was: 'refused: closed_by_context', would: 'made' }),
        expect.objectContaining({ tool: 'graph-update', would: 'refused: closed_by_context' }),
      ]),
    );
  });

  it('refuse a call whose time is up although its turn was offered the tool', async () => {
    const { opened } = await playing('rules: { office: { groups: [write], time: { zone: UTC, until: "18:00" } } }', {
      calls: [calls.update],
    });
    const { toolsets } = topics;
    setTime(opened, '2040-07-16T17:59:59Z');
    const asked = opened.ask({ group: ['write'], state: 'analysis' });
    // The model’s turn takes the run over the hour.
    for await (const message of opened.bus.read([toolsets], { from: 'start', follow: true })) {
      expect(message.record.tools.map(({ id }) => id)).toEqual([ids.update]);
      setTime(opened, '2040-07-16T18:00:01Z');
      break;
    }
    const { history } = await asked;
    expect(['closed_by_time', null]).toContain(history[0]?.reason);
    await expectEqualReplay(opened);
  });

  it('go by a load, which is on the record, with hysteresis; replay and what-if agree (G-172)', async () => {
    let value = '5';
    const prometheus = createServer((_, response) => {
      const result = [{ metric: {}, value: [0, value] }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
    await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`;
    try {
      const { opened } = await playing(
        `
monitoring: { prometheus_url: "${address}" }
rules: { busy: { groups: [expensive], load: { prometheus: "sum(load)", close_above: 20, open_below: 10 } } }`,
        { calls: [calls.analysis] },
      );
      let time = Date.parse('2040-07-16T10:00:00Z');
      const outcome = async (load: string) => {
        value = load;
        // A measured value is used for a while.
        setTime(opened, (time += 60_000));
        const { history, run } = await opened.ask({ group: ['compute'], state: 'analysis' });
        return [history[0]?.reason ?? history[0]?.outcome, run?.conditions?.loads, run?.conditions?.held];
      };
      const name = 'prometheus: sum(load)';
      expect(await outcome('5')).toEqual(['ok', { [name]: '5' }, []]);
      expect(await outcome('15')).toEqual(['ok', { [name]: '15' }, []]);
      expect(await outcome('21')).toEqual(['closed_by_load', { [name]: '21' }, ['busy']]);
      expect(await outcome('15')).toEqual(['closed_by_load', { [name]: '15' }, ['busy']]);
      expect(await outcome('10')).toEqual(['ok', { [name]: '10' }, []]);
      expect(await outcome('NaN-is-none')).toEqual(['closed_by_load', { [name]: '' }, ['busy']]);
      await expectEqualReplay(opened);
      expect(await underRules(opened, (own) => own)).toEqual([]);
      const higher = await underRules(opened, (own) => ({
        ...own,
        rules:
          own.rules?.map((rule) => ({ ...rule, ...(rule.load && { load: { ...rule.load, close: 40, open: 30 } }) })) ??
          [],
      }));
      expect(higher.filter(({ topic }) => topic === 'agent.steps').flatMap(({ changes }) => changes)).toEqual(
        Array.from({ length: 2 }, () => ({
          ...{ kind: 'call', tool: 'complex-analysis', index: 0, rule: 'busy' },
          ...{ was: 'refused: closed_by_load', would: 'made' },
        })),
      );
      // What was not measured cannot be said.
      const other = await underRules(opened, (own) => ({
        ...own,
        rules:
          own.rules?.map((rule) => ({
            ...rule,
            ...(rule.load && { load: { ...rule.load, measure: 'calls_in_flight' as const } }),
          })) ?? [],
      }));
      expect(new Set(other.map(({ notReplayable }) => notReplayable))).toContain(
        'The load “calls_in_flight” was not measured.',
      );
    } finally {
      prometheus.close();
    }
  });

  it('go by the calls that the executors have under way', async () => {
    const { opened } = await playing(
      'rules: { busy: { groups: [write], load: { measure: calls_in_flight, close_above: 0 } } }',
      { calls: [calls.update] },
    );
    const { documents } = opened.embedded.runtime;
    await eventually(
      () => documents.find('load/calls'),
      (found) => found !== undefined,
    );
    const free = await opened.ask({ group: ['write'], state: 'analysis' });
    expect(short(free.history)).toEqual([['graph-update', 'ok', null]]);
    // Another executor reports what it does.
    const report = JSON.stringify({ other: { inFlight: 3, p95: 1, at: Date.now() } });
    await eventually(
      async () => {
        const { version = 0 } = (await documents.find('load/calls')) ?? {};
        return documents.put('load/calls', version + 1, report, null);
      },
      (isWritten) => isWritten,
    );
    await eventually(
      async () => (await opened.ask({ group: ['write'], state: 'analysis' })).history[0]?.reason,
      (reason) => reason === 'closed_by_load',
    );
    await expectEqualReplay(opened);
  });

  it('go by what the run did: after, not after, at most; at listing and at each call of a turn', async () => {
    const { opened, model } = await playing(
      `
rules:
  look-first: { tools: [graph-update], history: { after: [knowledge-query], at_most: 2 } }
  no-reset: { tools: [reset-workflow], history: { not_after: [graph-update] } }`,
      { calls: [calls.update, calls.query, calls.update, calls.update, calls.update, calls.reset] },
      { calls: [calls.update] },
    );
    const { history, run } = await opened.ask({ group: ['*'], state: 'undefined' });
    expect(short(history)).toEqual([
      ['graph-update', 'policy_denied', 'not_eligible_state'],
      ['knowledge-query', 'ok', null],
      // It was closed when the turn was offered its tools.
      ['graph-update', 'policy_denied', 'grant_invalid'],
      ['graph-update', 'policy_denied', 'grant_invalid'],
      ['graph-update', 'policy_denied', 'grant_invalid'],
      ['reset-workflow', 'policy_denied', 'grant_invalid'],
      ['graph-update', 'ok', null],
    ]);
    expect(run?.conditions).toMatchObject({ succeeded: { [ids.query]: 1, [ids.update]: 1 }, channel: 'kafka' });
    expect(model.asked[1]?.tools.map(({ id }) => id)).toContain(ids.update);
    const last = (await opened.all('agent.toolsets')).at(-1)?.record;
    expect(last?.hidden).toContainEqual({ key: 'reset-workflow', reasons: ['history'] });
    await expectEqualReplay(opened);
    expect(await underRules(opened, (own) => own)).toEqual([]);
  });

  it('end the calls of a turn where they use up what a rule leaves', async () => {
    const { opened } = await playing('rules: { twice: { groups: [write], history: { at_most: 2 } } }', {
      calls: [calls.update, calls.update, calls.update],
    });
    const { history } = await opened.ask({ group: ['write'], state: 'analysis' });
    expect(short(history).map(([, , reason]) => reason)).toEqual([null, null, 'closed_by_history']);
    await expectEqualReplay(opened);
  });

  it('let groups stand in for one without an available tool, within what the caller may ask for (G-176)', async () => {
    const { opened, model } = await playing(
      `
group_fallbacks: { expensive: [write, basic] }
rules: { never: { groups: [expensive], when: { tenants: [other] } } }`,
      { calls: [calls.update] },
    );
    const { history } = await opened.ask({ group: ['expensive'], state: 'analysis' });
    expect(short(history)).toEqual([['graph-update', 'ok', null]]);
    const [first] = await opened.all('agent.toolsets');
    expect(first?.record).toMatchObject({ groups: ['expensive', 'write'], fallbackGroups: ['write'] });
    expect(first?.record.request.group).toEqual(['expensive']);
    expect(model.asked[0]?.tools.map(({ id }) => id)).toEqual([ids.update]);
    expect(await opened.metric('sluice_fallback_groups_total', { group: 'write' })).toBe(2);
    await expectEqualReplay(opened);
    expect(await underRules(opened, (own) => own)).toEqual([]);
  });
});
