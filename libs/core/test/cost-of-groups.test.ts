import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { compileRules } from '@sluice/core';
import type { RuleTool } from '@sluice/core';

/** A few tags out of fifty, some bound to states, as a large organisation has them. */
function tools(count: number): readonly RuleTool[] {
  return Array.from({ length: count }, (_, n) => ({
    key: `tool-${n}`,
    groups: [`group-${n % 50}`, `team-${n % 7}`],
    states: n % 3 === 0 ? ['*'] : [`state-${n % 5}`, 'undefined'],
    target: n % 4 === 0 ? `state-${n % 5}` : null,
  }));
}

/** The least of several, in milliseconds of this process’s own time, so that what else the machine does is left out. */
function cpuMs(work: () => void, times = 5): number {
  const taken = Array.from({ length: times }, () => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user / 1_000;
  });
  return Math.min(...taken);
}

/**
 * Limits are ten times what docs/benchmarks.md has and more: they catch work that grows with the square, not a slow
 * machine.
 */
describe('groups and states', () => {
  it('take little memory for each tool (G-158)', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const count = 20_000;
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept = tools(count).map(({ groups, states, target }) => ({ groups, states, target }));
    collect();
    expect((process.memoryUsage().heapUsed - before) / count).toBeLessThan(2_000);
    expect(kept).toHaveLength(count);
  });

  it('do not slow down the start, with ten thousand tools either (G-159, G-168)', () => {
    const many = tools(10_000);
    expect(cpuMs(() => void compileRules(many))).toBeLessThan(500);
  });

  it('cost microseconds in a decision among a hundred tools, seen before or not (G-163)', () => {
    const many = tools(100);
    const fresh = cpuMs(() => {
      const rules = compileRules(many);
      for (let n = 0; n < 50; n++) for (let m = 0; m < 50; m++) rules.decide([`group-${n}`, `group-${m}`], 'state-2');
    });
    expect(fresh / 2_500).toBeLessThan(0.1);
    const rules = compileRules(many);
    const again = cpuMs(() => {
      for (let n = 0; n < 10_000; n++) rules.decide(['group-3', 'team-2'], 'state-2');
    });
    expect(again / 10_000).toBeLessThan(0.02);
  });

  it('cost as little in the state that a call led to (G-162)', () => {
    const rules = compileRules(tools(1_000));
    const states = Array.from({ length: 5 }, (_, n) => `state-${n}`);
    const taken = cpuMs(() => {
      for (let n = 0; n < 10_000; n++) rules.decide(['group-3', 'team-2'], states[n % 5] ?? null);
    });
    expect(taken / 10_000).toBeLessThan(0.02);
  });
});
