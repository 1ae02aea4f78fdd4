import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { beginRun, compileEvaluator, localPrincipal, normaliseGroups } from '@sluice/core';
import type { Evaluator } from '@sluice/core';
import { make, payloadBytes, sha256, topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import {
  decideCall,
  decideIteration,
  firstKeys,
  namingTools,
  offeredIds,
  toolCall,
  withFirstNames,
  withTools,
} from '@sluice/run';
import type { OfferedBefore } from '@sluice/run';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const ids = { requestId: 'r', sessionId: 's' };
const request = { ...make.agentRequest({ question: 'Q' }), ...ids, group: ['work'] };

/** So many tools of a group that is asked for, and as many of another one. */
function evaluatorOf(count: number): Evaluator {
  const tool = Object.fromEntries(
    Array.from({ length: 2 * count }, (_, n) => {
      const group = [n % 2 === 0 ? 'work' : 'other'];
      return [`tool-${n}`, { type: 'text-completion', description: `Tells the time ${n}.`, group }];
    }),
  );
  const { configuration } = compileConfiguration({ tool, policy: { allowed_tools: Object.keys(tool) } }, sampleInputs);
  if (configuration === null) throw new Error('It has mistakes.');
  return compileEvaluator(configuration);
}

function decided(evaluator: Evaluator, before: OfferedBefore | null = null): { whole: Toolset; named: Toolset } {
  const groups = normaliseGroups(request.group);
  const begun = beginRun(request, groups, 'undefined', evaluator.configuration.limits, localPrincipal, 1);
  const run = { ...begun, iteration: before === null ? 0 : 1 };
  const iteration = decideIteration(ids, request, run, evaluator, 2);
  if (iteration.kind === 'end') throw new Error(iteration.response.error?.message);
  return { whole: iteration.record, named: namingTools(iteration.record, iteration.decision, evaluator, before) };
}

describe('a Toolset', () => {
  const few = evaluatorOf(5);
  const many = evaluatorOf(1_000);

  it('has ids, keys and hashes of a short list, and no texts', () => {
    const { named, whole } = decided(few);
    expect(named.tools).toEqual(whole.tools.map((tool) => ({ ...tool, description: '', inputSchema: '' })));
    expect(named.hidden).toEqual(whole.hidden);
    expect(named.list).toMatchObject({ since: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.stringify(named)).not.toContain('properties');
  });

  it.each([
    ['few', few],
    ['many', many],
  ])('gives its readers the tools with their texts from the configuration: %s', (_, evaluator) => {
    const { named, whole } = decided(evaluator);
    expect(withTools(named, evaluator).tools).toEqual(whole.tools);
    const turn = { thought: '', calls: [], omittedCalls: 0, model: null, decision: null };
    const call = toolCall(withTools(named, evaluator), named.run, turn);
    expect(call.offered).toEqual([]);
    expect(offeredIds(call, evaluator)).toEqual(whole.tools.map(({ id }) => id));
  });

  it('does not grow with its tools, nor with those that are hidden', () => {
    const bytes = (evaluator: Evaluator): number => payloadBytes(topics.toolsets, decided(evaluator).named);
    // Each second tool of 2,000 is the worst there is: two numbers for each.
    expect(bytes(many)).toBeLessThan(bytes(few) + 10_000);
    expect(decided(many).named.tools).toEqual([]);
    expect(decided(many).named.hidden).toEqual([]);
    const [hidden] = decided(many).named.hiddenIndexes;
    expect(hidden?.reasons).toEqual(['group']);
  });

  it('names the first tools of a run in it, and has all of them by their indexes', () => {
    const { named, whole } = decided(many);
    const { availableTools, firstTools } = named.run;
    expect(availableTools).toEqual(whole.run.availableTools.slice(0, 16));
    if (firstTools === null) throw new Error('There are none.');
    const { filteredByGroup, filteredByState } = whole.run;
    expect(firstKeys(firstTools, many)).toEqual({
      availableTools: whole.run.availableTools,
      filteredByGroup,
      filteredByState,
    });
    expect(decided(few).named.run.firstTools).toBeNull();
  });

  it('names few tools in a run without a model, and the first ones of each list to people', () => {
    const call = { tool: 'tool-0', arguments: '{}', order: null };
    const begun = beginRun(request, ['work'], 'undefined', many.configuration.limits, localPrincipal, 1);
    const one = decideCall(ids, { ...request, call }, begun, many, 2);
    if (one.kind === 'end') throw new Error(one.response.error?.message);
    const { run } = one.turn;
    expect([run.availableTools, run.filteredByGroup, run.filteredByState]).toEqual([[], [], []]);
    const { whole } = decided(many);
    const { configuration } = many;
    const here = { versionOrNull: () => ({ configuration, evaluator: many }) };
    expect(withFirstNames(run, here)).toEqual({
      ...run,
      availableTools: whole.run.availableTools.slice(0, 16),
      filteredByGroup: whole.run.filteredByGroup.slice(0, 16),
      filteredByState: [],
    });
    expect(withFirstNames(run, { versionOrNull: () => null })).toBe(run);
    const { configuration: fewer } = few;
    expect(withFirstNames(run, { versionOrNull: () => ({ configuration: fewer, evaluator: few }) })).toBe(run);
    const named = decided(many).named.run;
    expect(withFirstNames(named, here)).toBe(named);
  });

  it('names the iteration that has the same list, and writes out another one', () => {
    const { list, configVersion } = decided(few).named;
    const again = decided(few, { list, configVersion }).named;
    expect([again.tools, again.hidden, again.list]).toEqual([[], [], { ...list, since: 1 }]);
    expect(withTools(again, few).tools).toEqual(decided(few).whole.tools);
    const other = { list: list === null ? null : { ...list, hash: sha256('other') }, configVersion };
    expect(decided(few, other).named).toMatchObject({ list: { since: 2 }, tools: { length: 5 } });
    expect(decided(few, { list, configVersion: 'c-other' }).named.list?.since).toBe(2);
  });

  it('of an earlier version is as it was, with the texts that it has', () => {
    const { whole } = decided(few);
    expect(withTools(whole, many)).toBe(whole);
    const turn = { thought: '', calls: [], omittedCalls: 0, model: null, decision: null };
    expect(offeredIds(toolCall(whole, whole.run, turn), many)).toEqual(whole.tools.map(({ id }) => id));
  });

  it('with indexes beyond its configuration is refused', () => {
    const { named } = decided(many);
    expect(() => withTools(named, few)).toThrow(/does not have/);
  });
});
