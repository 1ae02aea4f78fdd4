import { describe, expect, it } from '@jest/globals';
import {
  afterSteps,
  beginRun,
  localPrincipal,
  dwellTimes,
  historyBytes,
  nextIteration,
  requestLog,
  requestLogLine,
  runEnd,
} from '@sluice/core';
import type { Step } from '@sluice/core';

const limits = { maxIterations: 10, runMs: 60_000, historyBytes: 1_000 };
const asked = { maxIterations: null, deadline: null };

function step(changes: Partial<Step>): Step {
  return {
    thought: '',
    action: 'a',
    arguments: '{}',
    observation: '',
    outcome: 'ok',
    reason: null,
    stateBefore: 'undefined',
    state: 'undefined',
    toolCallId: 'c',
    iteration: 1,
    index: 0,
    startedAt: 0,
    endedAt: 0,
    resultHash: null,
    agentRun: null,
    providerData: null,
    cachedAt: null,
    documentation: null,
    content: [],
    questions: [],
    rule: null,
    facts: {},
    edited: null,
    ...changes,
  };
}

describe('a run', () => {
  it('may ask for less than the limits and never for more', () => {
    expect(beginRun({ maxIterations: 3, deadline: 500 }, [], 's', limits, localPrincipal, 0)).toMatchObject({
      maxIterations: 3,
      deadline: 500,
    });
    expect(beginRun({ maxIterations: 99, deadline: 1e9 }, [], 's', limits, localPrincipal, 0)).toMatchObject({
      maxIterations: 10,
      deadline: 60_000,
    });
  });

  it('ends at its iterations, its deadline and its size, each with its own code (XB-29)', () => {
    const run = beginRun(asked, [], 's', limits, localPrincipal, 0);
    expect(runEnd(run, [], limits, 1)).toBeNull();
    expect(runEnd({ ...run, iteration: 9 }, [], limits, 1)).toBeNull();
    expect(runEnd({ ...run, iteration: 10 }, [], limits, 1)?.code).toBe('max_iterations');
    expect(runEnd(run, [], limits, 59_999)).toBeNull();
    expect(runEnd(run, [], limits, 60_000)?.code).toBe('deadline_exceeded');
    const long = step({ observation: 'ü'.repeat(500) });
    expect(historyBytes([long])).toBeGreaterThan(1_000);
    expect(runEnd(run, [long], limits, 1)?.code).toBe('size_exceeded');
  });

  it('keeps the first iteration’s lists and no later ones (XG-23)', () => {
    const first = nextIteration(beginRun(asked, [], 's', limits, localPrincipal, 0), {
      eligible: ['a'],
      filteredByGroup: ['b'],
      filteredByState: ['c'],
    });
    const second = nextIteration(first, { eligible: ['x'], filteredByGroup: [], filteredByState: [] });
    expect(second).toMatchObject({
      iteration: 2,
      availableTools: ['a'],
      filteredByGroup: ['b'],
      filteredByState: ['c'],
    });
  });

  it('keeps transitions in order, but not a step that stays where it is (XG-33), and the time in each state left (G-112)', () => {
    const run = beginRun(asked, [], 'undefined', limits, localPrincipal, 1_000);
    const steps = [
      step({ action: 'q', state: 'analysis', endedAt: 3_000 }),
      step({ action: 'u', stateBefore: 'analysis', state: 'analysis', endedAt: 4_000 }),
      step({ action: 'c', stateBefore: 'analysis', state: 'results', endedAt: 7_000 }),
    ];
    expect(afterSteps(run, steps)).toMatchObject({
      stateEnteredAt: 7_000,
      stateTransitions: [
        { tool: 'q', from: 'undefined', to: 'analysis', timestamp: 3_000 },
        { tool: 'c', from: 'analysis', to: 'results', timestamp: 7_000 },
      ],
    });
    expect(dwellTimes(run, steps)).toEqual([
      { state: 'undefined', milliseconds: 2_000 },
      { state: 'analysis', milliseconds: 4_000 },
    ]);
    expect(afterSteps(run, [steps[1] as Step])).toBe(run);
  });
});

describe('the request’s log line (§8.2)', () => {
  it('has exactly the eight keys, ISO times in UTC and seconds with one decimal (G-119 to G-128)', () => {
    const run = afterSteps(
      nextIteration(beginRun(asked, ['read-only', 'knowledge'], 'undefined', limits, localPrincipal, 1_000), {
        eligible: ['knowledge-query', 'text-completion'],
        filteredByGroup: ['complex-analysis', 'reset-workflow'],
        filteredByState: ['graph-update'],
      }),
      [step({ action: 'knowledge-query', state: 'analysis', endedAt: 1_500 })],
    );
    expect(requestLog('req-123', run, { groups: [], state: '' }, 2_240)).toEqual({
      request_id: 'req-123',
      requested_groups: ['read-only', 'knowledge'],
      initial_state: 'undefined',
      state_transitions: [
        { tool: 'knowledge-query', from: 'undefined', to: 'analysis', timestamp: '1970-01-01T00:00:01.500Z' },
      ],
      available_tools: ['knowledge-query', 'text-completion'],
      filtered_by_group: ['complex-analysis', 'reset-workflow'],
      filtered_by_state: ['graph-update'],
      execution_time: '1.2s',
    });
  });

  it('has of many names the first ten, and how many more there are; the audit has what the run has', () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `n-${n}`);
    const [all, ten] = [names(40), names(10)];
    const begun = beginRun(asked, names(11), 'undefined', limits, localPrincipal, 1_000);
    const run = nextIteration(begun, { eligible: all, filteredByGroup: ten, filteredByState: [] });
    const about = { groups: [], state: '' };
    expect(requestLogLine('r', run, about, 2_240)).toMatchObject({
      requested_groups: [...ten, 'and 1 more'],
      available_tools: [...ten, 'and 30 more'],
      filtered_by_group: ten,
      filtered_by_state: [],
    });
    expect(requestLog('r', run, about, 2_240).available_tools).toEqual(all);
    // A run whose records do not name them all says how many there are.
    const firstTools = { configVersion: 'c', available: [0, 1_000], filteredByGroup: [1_000, 2], filteredByState: [] };
    const few = { ...run, availableTools: names(16), filteredByGroup: names(2), firstTools };
    expect(requestLogLine('r', few, about, 2_240)).toMatchObject({
      available_tools: [...ten, 'and 990 more'],
      filtered_by_group: names(2),
      filtered_by_state: [],
    });
  });

  it('has the same keys for a request that never began', () => {
    const line = requestLog('r', null, { groups: ['default'], state: 'undefined' }, 5);
    expect(Object.keys(line)).toHaveLength(8);
    expect(line).toMatchObject({ requested_groups: ['default'], initial_state: 'undefined', execution_time: '0.0s' });
  });
});
