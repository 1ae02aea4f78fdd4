import { describe, expect, it } from '@jest/globals';
import { type RuleTool, compileRules } from '@sluice/core';

function tools(count: number, groups: number): readonly RuleTool[] {
  return Array.from({ length: count }, (_, i) => ({
    key: `tool-${String(i)}`,
    groups: [`g${String(i % groups)}`],
    states: ['*'],
    target: null,
  }));
}

describe('the memory for decisions', () => {
  it('G-164, G-165: an equal request is not decided again, whatever the order and the repeats', () => {
    const rules = compileRules(tools(10, 5));
    const first = rules.decide(['g1', 'g2', 'g3'], 'undefined');
    const again = rules.decide(['g3', 'g1', 'g1', 'g2'], null);
    expect(again.eligible).toBe(first.eligible);
    expect(rules.memory()).toEqual({ hits: 1, misses: 1, entries: 1 });
  });

  it('G-39: what stands beside a wildcard makes no entry of its own', () => {
    const rules = compileRules(tools(10, 5));
    expect(rules.decide(['g1', '*', 'g2'], null).eligible).toBe(rules.decide(['*'], null).eligible);
    expect(rules.memory()).toEqual({ hits: 1, misses: 1, entries: 1 });
  });

  it('G-118, G-166: names that are not configured do not grow it', () => {
    const rules = compileRules(tools(10, 5));
    for (let i = 0; i < 10_000; i++) rules.decide(['g1', `random-${String(i)}`], `state-${String(i)}`);
    expect(rules.memory()).toEqual({ hits: 9_999, misses: 1, entries: 1 });
  });

  it('G-166: known names do not grow it past its limit, and it stays right', () => {
    const rules = compileRules(tools(60, 60));
    for (let a = 0; a < 60; a++) {
      for (let b = a + 1; b < 60; b++) {
        for (const c of ['g0', 'g30', 'g59']) {
          const wanted = new Set([`g${String(a)}`, `g${String(b)}`, c]);
          expect(rules.decide([...wanted], null).eligible).toHaveLength(wanted.size);
        }
      }
    }
    expect(rules.memory().misses).toBeGreaterThan(4_096);
    expect(rules.memory().entries).toBeLessThanOrEqual(4_096);
  });

  it('holds fewer decisions of many tools, so that its bytes are bounded as well', () => {
    const rules = compileRules(tools(10_000, 1_000));
    for (let i = 0; i < 999; i++) rules.decide([`g${String(i)}`, `g${String(i + 1)}`], null);
    expect(rules.memory().entries).toBeLessThanOrEqual(419);
  });

  it('takes more requested groups than there are configured ones', () => {
    const rules = compileRules(tools(100, 100));
    const groups = Array.from({ length: 5_000 }, (_, i) => `g${String(4_999 - i)}`);
    const decision = rules.decide(groups, null);
    expect(decision.eligible).toHaveLength(100);
    expect(decision.unknownGroups).toHaveLength(4_900);
    expect(rules.decide(groups.reverse(), null).eligible).toBe(decision.eligible);
  });
});

describe('what is read of a configuration', () => {
  it('G-157: groups and states are read when the configuration is compiled, and not once for 1,000 requests', () => {
    let reads = 0;
    const counted = tools(100, 10).map((tool) => ({
      ...tool,
      get groups() {
        reads += 1;
        return tool.groups;
      },
      get states() {
        reads += 1;
        return tool.states;
      },
    }));
    const rules = compileRules(counted);
    expect(reads).toBeGreaterThanOrEqual(200);
    reads = 0;
    // Ten groups by themselves and every pair of them, in twenty states: most of these requests come for the first
    // time.
    for (let i = 0; i < 1_000; i++) {
      const groups = [`g${String(i % 10)}`, `g${String(Math.floor(i / 10) % 10)}`];
      expect(rules.decide(groups, `state-${String(i % 20)}`).eligible.length).toBeGreaterThan(0);
    }
    expect(reads).toBe(0);
  });
});

describe('the time it takes', () => {
  it('G-161: compiling and deciding for 10,000 tools take milliseconds', () => {
    const many = tools(10_000, 300);
    const before = performance.now();
    const rules = compileRules(many);
    const decision = rules.decide(['g1', 'g2'], 'undefined');
    const elapsed = performance.now() - before;
    expect(decision.eligible.length + decision.filteredByGroup.length).toBe(10_000);
    // Some hundred times what it takes, so that a busy machine does not fail it and a quadratic rule does.
    expect(elapsed).toBeLessThan(1_500);
  });
});
