import { describe, expect, it } from '@jest/globals';
import { compileRules, normaliseGroups, normaliseState, transition } from '@sluice/core';
import type { RuleTool } from '@sluice/core';
import { readCases, readYaml } from '../../configuration/test/read-cases.js';
import { ruleToolsOf } from './rule-tools.js';

interface Matrix {
  readonly tools: Readonly<Record<string, string>>;
  readonly otherStates: readonly string[];
  readonly rows: readonly {
    readonly name: string;
    readonly requirements: string;
    readonly groups: readonly string[] | null;
    readonly sets: Readonly<Record<string, readonly string[]>>;
  }[];
}

interface RuleCase {
  readonly name: string;
  readonly requirements: string;
  readonly tools: readonly (Partial<RuleTool> & { readonly key: string })[];
  readonly request: { readonly groups: readonly string[] | null; readonly state: string | null };
  readonly eligible?: readonly string[];
  readonly byGroup?: readonly string[];
  readonly byState?: readonly string[];
  readonly unknown?: readonly string[];
}

const spec51 = ruleToolsOf(readYaml('examples/spec-5.1.yaml'));

describe('the configuration of 5.1 (G-01, G-08, G-81)', () => {
  const matrix = readCases<Matrix>('matrix-5.1.yaml');
  const rules = compileRules(spec51);
  it.each(matrix.rows.map((row) => [`${row.name} (${row.requirements})`, row] as const))('%s', (_name, row) => {
    for (const [column, set] of Object.entries(row.sets)) {
      for (const state of column === 'other' ? matrix.otherStates : [column]) {
        const decision = rules.decide(row.groups, state);
        expect({ state, eligible: decision.eligible }).toEqual({
          state,
          eligible: set.map((short) => matrix.tools[short]),
        });
      }
    }
  });

  it('G-40, G-106: an absent, a null and an empty state are undefined', () => {
    const written = rules.decide(['*'], 'undefined');
    expect(rules.decide(['*'], null)).toEqual(written);
    expect(rules.decide(['*'], '')).toEqual(written);
  });

  it('G-125, G-126, G-130: the example of 8.2 as the rule gives it', () => {
    expect(rules.decide(['read-only', 'knowledge'], 'undefined')).toEqual({
      eligible: ['knowledge-query', 'text-completion'],
      filteredByGroup: ['complex-analysis', 'reset-workflow'],
      filteredByState: ['graph-update'],
      unknownGroups: [],
      groups: ['read-only', 'knowledge'],
      state: 'undefined',
    });
  });

  it('G-07, G-109: counts the tools of each tag', () => {
    expect(Object.fromEntries(rules.availabilityByGroup())).toEqual({
      'read-only': 2,
      knowledge: 2,
      basic: 2,
      write: 1,
      admin: 2,
      text: 1,
      advanced: 1,
      compute: 1,
      expensive: 1,
    });
  });

  it('G-113: counts the tools of each state', () => {
    expect(Object.fromEntries(rules.availabilityByState())).toEqual({
      undefined: 2,
      research: 2,
      analysis: 4,
      modification: 2,
      results: 2,
    });
  });

  it('G-118: knows the names that may become labels', () => {
    expect([...rules.knownStates].sort()).toEqual(['analysis', 'modification', 'research', 'results', 'undefined']);
    expect(rules.knownGroups.has('default') && rules.knownGroups.has('*') && rules.knownGroups.has('admin')).toBe(true);
    expect(rules.knownGroups.has('no-such-group')).toBe(false);
  });

  it.each([
    ['three requests', [['read-only', 'knowledge'], ['advanced', 'compute', 'write'], ['admin']]],
    [
      'one request with a union',
      [
        ['read-only', 'advanced', 'admin'],
        ['read-only', 'advanced', 'admin'],
        ['read-only', 'advanced', 'admin'],
      ],
    ],
    ['one request for everything', [['*'], ['*'], ['*']]],
  ])('G-85, G-86, G-156, XG-2: the flow of 5.2 as %s ends where it began', (_name, groups) => {
    const visited = ['undefined'];
    const start = rules.decide(groups[0] ?? null, 'undefined');
    ['knowledge-query', 'complex-analysis', 'reset-workflow'].forEach((key, step) => {
      const state = visited.at(-1) ?? '';
      expect(rules.decide(groups[step] ?? null, state).eligible).toContain(key);
      visited.push(transition(spec51.find((tool) => tool.key === key) ?? { target: null }, state));
    });
    expect(visited).toEqual(['undefined', 'analysis', 'results', 'undefined']);
    expect(rules.decide(groups[0] ?? null, visited.at(-1) ?? null)).toEqual(start);
  });
});

describe('the rule of 4.2 (G-02, G-180)', () => {
  const cases = readCases<readonly RuleCase[]>('rules.yaml');
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const rules = compileRules(
      one.tools.map((tool) => ({ groups: ['default'], states: ['*'], target: null, ...tool })),
    );
    expect(rules.decide(one.request.groups, one.request.state)).toMatchObject({
      eligible: one.eligible ?? [],
      filteredByGroup: one.byGroup ?? [],
      filteredByState: one.byState ?? [],
      unknownGroups: one.unknown ?? [],
    });
  });
});

describe('defaults and transitions', () => {
  it('G-35, XG-8: absent and null groups are the default, an empty list stays empty, repeats count once', () => {
    expect(normaliseGroups(undefined)).toEqual(['default']);
    expect(normaliseGroups(null)).toEqual(['default']);
    expect(normaliseGroups([])).toEqual([]);
    expect(normaliseGroups(['b', 'a', 'b'])).toEqual(['b', 'a']);
    const many = Array.from({ length: 50 }, (_, i) => `g${String(i % 20)}`);
    expect(normaliseGroups(many)).toEqual(many.slice(0, 20));
  });

  it('G-40, XG-17: absent, null and empty states are undefined', () => {
    expect([undefined, null, '', 'results', '*'].map(normaliseState)).toEqual([
      'undefined',
      'undefined',
      'undefined',
      'results',
      '*',
    ]);
  });

  it('G-28, G-60, XG-24: a target is taken as written, none leaves the state', () => {
    expect(transition({ target: 'undefined' }, 'analysis')).toBe('undefined');
    expect(transition({ target: null }, 'analysis')).toBe('analysis');
  });
});

describe('what is handed out', () => {
  it('is frozen, and not the list the caller may still change', () => {
    const rules = compileRules(spec51);
    const groups = ['admin', 'gone'];
    const decision = rules.decide(groups, 'results');
    groups[0] = 'read-only';
    expect(decision.groups).toEqual(['admin', 'gone']);
    for (const value of [decision, ...Object.values(decision)]) expect(Object.isFrozen(value)).toBe(true);
  });

  it('shares one empty list where no group is unknown', () => {
    const rules = compileRules(spec51);
    expect(rules.decide(['admin'], null).unknownGroups).toBe(rules.decide(['*'], 'x').unknownGroups);
  });

  it('works without any tool', () => {
    const rules = compileRules([]);
    expect(rules.decide(['*'], null)).toMatchObject({ eligible: [], filteredByGroup: [], filteredByState: [] });
    expect(Object.fromEntries(rules.availabilityByState())).toEqual({ undefined: 0 });
  });
});

describe('groups within groups (11.2)', () => {
  const tree = { knowledge: ['knowledge/read', 'knowledge/write'], 'knowledge/read': ['knowledge/read/public'] };
  const tool = (key: string, ...groups: string[]): RuleTool => ({ key, groups, states: ['*'], target: null });
  const rules = compileRules(
    [
      tool('knowledge-query', 'knowledge/read'),
      tool('look-up', 'knowledge/read/public'),
      tool('graph-update', 'knowledge/write'),
      tool('describe', 'knowledge'),
      tool('other', 'other'),
    ],
    tree,
  );
  const eligible = (...groups: string[]): readonly string[] => rules.decide(groups, null).eligible;

  it('a request for a group covers those within it, one for a group within it only its own (G-173)', () => {
    expect(eligible('knowledge')).toEqual(['knowledge-query', 'look-up', 'graph-update', 'describe']);
    expect(eligible('knowledge/read')).toEqual(['knowledge-query', 'look-up']);
    expect(eligible('knowledge/write', 'knowledge/read/public')).toEqual(['look-up', 'graph-update']);
    expect(eligible('knowledge/write', 'knowledge', 'knowledge/read', 'other')).toHaveLength(5);
    expect(rules.decide(['*'], null).eligible).toHaveLength(5);
  });

  it('decides again from memory what it decided, whatever the group is called by', () => {
    const before = rules.memory();
    const whole = rules.decide(['knowledge/read', 'other'], 'a');
    expect(rules.decide(['other', 'knowledge/read/public', 'knowledge/read'], 'a').eligible).toBe(whole.eligible);
    expect(rules.memory().hits).toBe(before.hits + 1);
  });

  it('knows the group that holds others, and keeps the names of the request', () => {
    const decision = rules.decide(['knowledge', 'knowledge/raed'], null);
    expect(decision.groups).toEqual(['knowledge', 'knowledge/raed']);
    expect(decision.unknownGroups).toEqual(['knowledge/raed']);
    expect(rules.availabilityByGroup().get('knowledge')).toBe(4);
    expect(rules.knownGroups.has('knowledge')).toBe(true);
  });
});
