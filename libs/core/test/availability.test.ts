import { describe, expect, it } from '@jest/globals';
import { isLoadClosing } from '../src/availability/load.js';
import { languageOf } from '../src/availability/language.js';
import { isTimeZone, isWithinTime } from '../src/availability/time.js';
import type { LoadCondition, RuleFacts, TimeCondition } from '../src/availability/types.js';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import { compileEvaluator } from '../src/rules/evaluate.js';
import { runBudgetEnd } from '../src/run/agent-run.js';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const at = (text: string): number => Date.parse(text);

describe('a window of time', () => {
  const berlin: TimeCondition = { zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: 480, until: 1_080, holidays: [] };

  it.each([
    // Winter: an hour before UTC; summer: two.
    ['2026-01-12T06:59:59.999Z', false],
    ['2026-01-12T07:00:00Z', true],
    ['2026-01-12T16:59:59.999Z', true],
    ['2026-01-12T17:00:00Z', false],
    ['2026-07-13T06:00:00Z', true],
    ['2026-07-13T05:59:59.999Z', false],
    ['2026-07-13T16:00:00Z', false],
    // The Fridays and Mondays about both changes of 2026.
    ['2026-03-27T07:00:00Z', true],
    ['2026-03-30T06:00:00Z', true],
    ['2026-10-23T06:00:00Z', true],
    ['2026-10-26T06:59:59.999Z', false],
    ['2026-10-26T07:00:00Z', true],
    // Saturday.
    ['2026-01-10T10:00:00Z', false],
  ])('is judged by the wall clock of its zone at %s: %s', (instant, open) => {
    expect(isWithinTime(berlin, at(instant))).toBe(open);
  });

  it('is open for every instant of an hour that comes twice, and for none of one that is left out', () => {
    const hour = { ...berlin, days: [0], from: 120, until: 180 };
    expect(
      ['00:00', '00:59', '01:00', '01:59'].map((time) => isWithinTime(hour, at(`2026-10-25T${time}:59Z`))),
    ).toEqual([true, true, true, true]);
    const day = Array.from({ length: 24 * 60 }, (_, n) => isWithinTime(hour, at('2026-03-29T00:00:00Z') + n * 60_000));
    expect(day.filter((open) => open)).toHaveLength(0);
  });

  it('goes over midnight, by the day on which it begins, and begins on no holiday', () => {
    const night = { ...berlin, days: [5], from: 1_320, until: 360, holidays: ['2026-12-25'] };
    expect(isWithinTime(night, at('2026-01-10T04:00:00Z'))).toBe(true);
    expect(isWithinTime(night, at('2026-01-09T04:00:00Z'))).toBe(false);
    expect(isWithinTime(night, at('2026-12-26T04:00:00Z'))).toBe(false);
  });

  it('knows the zones of the IANA database, with offsets of quarters of an hour', () => {
    expect(['Europe/Berlin', 'UTC', 'Europe/Berlim', '+02:00', ''].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    const kathmandu = { ...berlin, zone: 'Asia/Kathmandu', days: [0, 1, 2, 3, 4, 5, 6], from: 345, until: 346 };
    expect(isWithinTime(kathmandu, at('2026-05-01T00:00:30Z'))).toBe(true);
    expect(isWithinTime(kathmandu, at('2026-05-01T00:01:00Z'))).toBe(false);
  });
});

describe('a load', () => {
  const load: LoadCondition = { measure: 'calls_in_flight', isHighClosing: true, close: 20, open: 10 };
  it('closes above one threshold and opens at another; between the two it stays as it was', () => {
    const closing = (value: number | null | undefined, held: boolean) =>
      isLoadClosing(load, 'busy', value, held ? ['busy'] : []);
    expect([closing(20, false), closing(21, false), closing(15, true), closing(15, false), closing(10, true)]).toEqual([
      ...[false, true, true, false, false],
    ]);
    expect([closing(null, false), closing(undefined, true)]).toEqual([true, false]);
    const low = { ...load, isHighClosing: false, close: 0.1, open: 0.2 };
    expect([0.05, 0.15, 0.2].map((value) => isLoadClosing(low, 'r', value, ['r']))).toEqual([true, true, false]);
  });
});

describe('the language of a question', () => {
  it.each([
    ['Which entities are connected to Company X?', 'en'],
    ['Welche Firmen sind mit der Firma X verbunden?', 'de'],
    ['Quelles sont les sociétés de la région ?', 'fr'],
    ['¿Cuáles son las empresas de la región?', 'es'],
    ['Какие компании связаны?', 'ru'],
    ['どの会社がつながっていますか', 'ja'],
    ['哪些公司有联系', 'zh'],
    ['X42?', 'und'],
    ['', 'und'],
  ])('of “%s” is %s', (question, language) => {
    expect(languageOf(question)).toBe(language);
  });
});

const tools = {
  query: { type: 'knowledge-query', group: ['read'] },
  update: { type: 'graph-update', group: ['write', 'expensive'] },
  write: { type: 'text-completion', group: ['write'] },
};
const policy = { allowed_tools: ['*'], approval: { none: 'this is a test' } };
const compiled = (rules: object, more: object = {}) =>
  compileConfiguration({ tool: tools, policy, rules, ...more }, sampleInputs);
const evaluatorOf = (rules: object) => {
  const { configuration, problems } = compiled(rules);
  expect(formatProblems(problems)).toBe('');
  if (configuration === null) throw new Error('It has mistakes.');
  return compileEvaluator(configuration);
};
const facts: RuleFacts = {
  at: 0,
  tenant: 'acme',
  actor: 'user:ann',
  channel: 'http',
  claims: {},
  agent: 'default',
  facts: {},
  question: 'What is the answer?',
  loads: {},
  held: [],
  succeeded: {},
  approved: {},
  spent: { tokens: 0, microUsd: null },
};
const hidden = (rules: object, own: Partial<RuleFacts> = {}, calls = {}, state: string | null = null) =>
  Object.fromEntries(
    evaluatorOf(rules)
      .evaluate({
        ...{ groups: ['*'], state, toolIds: null, calls, connections: [] },
        rules: { ...facts, ...own },
      })
      .hidden.map(({ key, reasons }) => [key, reasons]),
  );

describe('a rule', () => {
  it('closes the tools of its groups, whichever group reaches them, with a reason of its own', () => {
    const rules = { office: { groups: ['expensive'], time: { zone: 'UTC', from: '08:00', until: '18:00' } } };
    expect(hidden(rules, { at: at('2026-05-05T07:59:59Z') })).toEqual({ update: ['time'] });
    expect(hidden(rules, { at: at('2026-05-05T08:00:00Z') })).toEqual({});
  });

  it.each<[string, object, Partial<RuleFacts>]>([
    ['tenants', { tenants: ['acme'] }, { tenant: 'other' }],
    ['actors', { actors: ['user'] }, { actor: 'service:billing' }],
    ['channels', { channels: ['http', 'mcp'] }, { channel: 'kafka' }],
    ['claims', { claims: { department: ['finance'] } }, { claims: { department: ['sales'] } }],
    ['languages', { languages: ['en'] }, { question: 'Was ist die Antwort?' }],
    ['question_bytes', { question_bytes: 20 }, { question: 'What is the answer, in the end?' }],
  ])('goes by %s, with when and with unless', (_, condition, other) => {
    const own = { claims: { department: ['it', 'finance'] } };
    expect(hidden({ one: { tools: ['query'], when: condition } }, own)).toEqual({});
    expect(hidden({ one: { tools: ['query'], when: condition } }, { ...own, ...other })).toEqual({
      query: ['context'],
    });
    expect(hidden({ one: { tools: ['query'], unless: condition } }, own)).toEqual({ query: ['context'] });
    expect(hidden({ one: { tools: ['query'], unless: condition } }, { ...own, ...other })).toEqual({});
  });

  it('goes by the state, and names every kind of condition that does not hold', () => {
    const rules = {
      one: { groups: ['write'], when: { states: ['analysis'] }, load: { measure: 'calls_in_flight', close_above: 3 } },
      two: { tools: ['update'], history: { after: ['query'] } },
    };
    expect(hidden(rules, { loads: { calls_in_flight: 4 } })).toEqual({
      update: ['context', 'load', 'history'],
      write: ['context', 'load'],
    });
    expect(hidden(rules, { loads: { calls_in_flight: 3 }, succeeded: { core__query: 1 } }, {}, 'analysis')).toEqual({});
  });

  it('goes by what the run did: after, not after, at most, while an approval stands', () => {
    const rule = (history: object) => ({ one: { groups: ['write'], history } });
    const closed = { update: ['history'], write: ['history'] };
    expect(hidden(rule({ not_after: ['query'] }), {}, { core__query: 1 })).toEqual(closed);
    expect(hidden(rule({ not_after: ['query'] }))).toEqual({});
    expect(hidden(rule({ at_most: 2 }), {}, { core__update: 1 })).toEqual({});
    expect(hidden(rule({ at_most: 2 }), {}, { core__update: 1, core__write: 1 })).toEqual(closed);
    const approved = { core__query: at('2026-05-05T08:00:00Z') };
    const stands = (time: string) => hidden(rule({ while_approved: ['query'] }), { approved, at: at(time) });
    expect(stands('2026-05-05T08:00:01Z')).toEqual({});
    expect(stands('2026-05-06T08:00:01Z')).toEqual(closed);
    expect(hidden(rule({ while_approved: ['query'] }))).toEqual(closed);
  });

  it('goes by what is left of the run’s budgets', () => {
    const rules = { last: { tools: ['update'], load: { measure: 'run_budget_left', close_below: 0.25 } } };
    expect(hidden(rules, {}, { core__query: 75 })).toEqual({});
    expect(hidden(rules, {}, { core__query: 76 })).toEqual({ update: ['load'] });
  });
});

describe('a mistake in a rule', () => {
  const rule = (own: object) => ({ one: { groups: ['write'], ...own } });
  it.each<[string, object, RegExp]>([
    [
      'a time zone',
      rule({ time: { zone: 'Europe/Berlim' } }),
      /rules\.one\.time\.zone: found the unknown time zone "Europe\/Berlim"/,
    ],
    ['no time zone', rule({ time: {} }), /rules\.one\.time\.zone: found no time zone; write one such as/],
    ['a time of day', rule({ time: { zone: 'UTC', from: '8:00' } }), /rules\.one\.time\.from: .*write a time of day/],
    [
      'an empty window',
      rule({ time: { zone: 'UTC', from: '08:00', until: '08:00' } }),
      /the time at which the window begins/,
    ],
    ['a date', rule({ time: { zone: 'UTC', holidays: ['2026-02-30'] } }), /holidays\[0\]: found the text "2026-02-30"/],
    [
      'a group',
      { one: { groups: ['wirte'], history: { at_most: 1 } } },
      /unknown group "wirte"; write .*did you mean `write`/,
    ],
    ['a tool', rule({ history: { after: ['qery'] } }), /the unknown tool "qery"; write .*did you mean `query`/],
    ['nothing it is about', { one: { history: { at_most: 1 } } }, /neither `groups` nor `tools`/],
    ['no condition', rule({}), /found no condition; write at least one of/],
    ['no fact', rule({ when: {} }), /rules\.one\.when: found no fact of a request/],
    [
      'two measures',
      rule({ load: { measure: 'calls_in_flight', prometheus: 'x', close_above: 1 } }),
      /not exactly one of/,
    ],
    ['no threshold', rule({ load: { measure: 'calls_in_flight' } }), /no threshold/],
    [
      'thresholds the wrong way',
      rule({ load: { measure: 'calls_in_flight', close_above: 1, open_below: 2 } }),
      /not above close_above/,
    ],
    [
      'Prometheus without an address',
      rule({ load: { prometheus: 'x', close_above: 1 } }),
      /monitoring\.prometheus_url: found nothing, though the rule "one" asks/,
    ],
    [
      'a tool after itself',
      { one: { tools: ['query'], history: { after: ['query'] } } },
      /query, which waits for itself/,
    ],
    [
      'a cycle',
      {
        one: { tools: ['query'], history: { after: ['update'] } },
        two: { tools: ['update'], history: { after: ['query'] } },
      },
      /a cycle: query and update wait for each other/,
    ],
    [
      'what cannot be',
      rule({ history: { after: ['query'], not_after: ['query'] } }),
      /core__query, which `after` requires/,
    ],
    ['an unknown channel', rule({ when: { channels: ['htpp'] } }), /did you mean `http`/],
    [
      'too many conditions',
      Object.fromEntries(
        Array.from({ length: 32 }, (_, n) => [`r${n}`, { groups: ['write'], history: { at_most: 1 } }]),
      ),
      /32 conditions/,
    ],
  ])('such as %s is refused with what to write', (_, rules, message) => {
    expect(formatProblems(compiled(rules).problems)).toMatch(message);
  });

  it('is reported for groups that stand in for others', () => {
    const { problems } = compiled({}, { group_fallbacks: { wirte: ['read'], write: ['write', 'raed'] } });
    expect(formatProblems(problems)).toMatch(/group_fallbacks\.wirte: .*did you mean `write`/);
    expect(formatProblems(problems)).toMatch(/the group "write" itself/);
    expect(formatProblems(problems)).toMatch(/did you mean `read`/);
  });
});

describe('a budget of a run in tokens and money', () => {
  const used = { inputTokens: 600, outputTokens: 100 };
  const price = { input: 1, output: 10 };
  it.each<[number | undefined, number | undefined, boolean]>([
    // 600 read, 100 for the history, 100 written and 200 set aside.
    [1_000, undefined, true],
    [999, undefined, false],
    [undefined, 3_700, true],
    [undefined, 3_699, false],
  ])(
    'of %s tokens and %s millionths sets the next turn aside: it goes on: %s',
    (tokensPerRun, microUsdPerRun, goesOn) => {
      const budget = {
        ...{ maxOutputTokens: 200 },
        ...(tokensPerRun === undefined ? {} : { tokensPerRun }),
        ...(microUsdPerRun === undefined ? {} : { microUsdPerRun }),
      };
      expect(runBudgetEnd(used, price, 400, budget)?.code ?? 'goes on').toBe(goesOn ? 'goes on' : 'budget_exceeded');
      if (microUsdPerRun !== undefined)
        expect(runBudgetEnd(used, undefined, 400, budget)?.message).toMatch(/no price says/);
    },
  );
});
