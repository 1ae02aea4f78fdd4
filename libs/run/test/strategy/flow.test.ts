import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConfidenceSettings, ConfiguredTool, Evaluator, Step } from '@sluice/core';
import { expected } from '../../src/strategy/confidence/expected.js';
import { answerConfidence, flowOf } from '../../src/strategy/confidence/flow.js';

const settings: ConfidenceSettings = {
  ...{ threshold: 0.6, retries: 1, timeoutMs: null, simplify: true, judge: 'formula', override: 'model' },
  contextTokens: 16_000,
};

function tool(key: string, effect: string, more: Partial<ConfiguredTool> = {}): ConfiguredTool {
  return {
    ...{ key, id: key, type: 'knowledge-query', category: 'graph', mcp: null, target: null, states: ['*'] },
    ...{ repeatable: true, spec: { effect, inputSchema: {} } },
    ...more,
  } as unknown as ConfiguredTool;
}

function evaluatorOf(changes: Partial<ConfidenceSettings> = {}): Evaluator {
  const confidence = { ...settings, ...changes };
  const plan = { approve: false, maxPlans: 3, maxSteps: 12, confidence };
  const tools = [
    tool('plan', 'read_only', { type: 'plan', plan } as unknown as Partial<ConfiguredTool>),
    tool('a', 'read_only'),
    tool('b', 'read_only'),
    tool('write', 'state_change'),
  ];
  const find = (id: string): ConfiguredTool | undefined => tools.find((one) => one.id === id);
  return { configuration: { tools }, tool: find, byId: find } as unknown as Evaluator;
}

const offered = ['plan', 'a', 'b', 'write'];

let made = 0;
function step(action: string, args: unknown, observation: unknown, outcome = 'ok', reason: string | null = null): Step {
  return {
    ...{ action, arguments: JSON.stringify(args), observation: JSON.stringify(observation), outcome, reason, index: 0 },
    ...{ toolCallId: `c${made++}`, thought: '' },
  } as unknown as Step;
}

const plan = (...tools: readonly (string | object)[]): Step =>
  step(
    'plan',
    { steps: tools.map((of) => (typeof of === 'string' ? { tool: of, why: 'w' } : { why: 'w', ...of })) },
    '',
  );
const rows = (action: string, count: number): Step =>
  step(action, {}, { rows: Array.from({ length: count }, () => ({ n: 'x' })) });
const review = (said: object, outcome = 'ok', reason: string | null = null): Step =>
  step('plan', { review: { why: 'because', ...said } }, 'said', outcome, reason);

function run(history: readonly Step[], evaluator: Evaluator) {
  const flow = flowOf(
    { request: { history }, run: { strategy: { name: 'confidence', reason: '', brought: 0 } } },
    evaluator,
  );
  return { flow, next: expected(flow, { state: null, offered }, evaluator) };
}

const kindsAfter = (history: readonly Step[], evaluator = evaluatorOf()): string[] =>
  history.map((_, index) => run(history.slice(0, index + 1), evaluator).next.kind);

describe('the flow of a run whose results are measured', () => {
  it('goes from the plan to its steps to the answer', () => {
    expect(run([], evaluatorOf()).next.kind).toBe('plan');
    expect(kindsAfter([plan('a', 'write'), rows('a', 3), rows('write', 1)])).toEqual(['call', 'call', 'answer']);
    expect(kindsAfter([plan()])).toEqual(['answer']);
  });

  it('tries a step again, then simpler, then has it reviewed', () => {
    const low = [plan('a', 'b'), rows('a', 0), rows('a', 0), rows('b', 0)];
    expect(kindsAfter(low)).toEqual(['call', 'retry', 'simplify', 'override']);
    expect(kindsAfter([...low, review({ decision: 'accept' })]).at(-1)).toBe('call');
    expect(kindsAfter([...low, review({ decision: 'replan' })]).at(-1)).toBe('plan');
    expect(kindsAfter([...low, review({ decision: 'stop' })]).at(-1)).toBe('partial');
    expect(kindsAfter([...low, review({ decision: 'accept' }, 'policy_denied', 'approval_refused')]).at(-1)).toBe(
      'partial',
    );
    expect(kindsAfter(low, evaluatorOf({ override: 'none' })).at(-1)).toBe('partial');
    expect(kindsAfter(low, evaluatorOf({ simplify: false })).at(2)).toBe('override');
  });

  it('takes the best of a step’s results, not the last', () => {
    const { flow } = run(
      [plan({ tool: 'a', confidence: 0.95 }), rows('a', 2), rows('a', 0), rows('b', 0), review({ decision: 'accept' })],
      evaluatorOf(),
    );
    expect([flow.done, flow.accepted, flow.scored?.attempt]).toEqual([1, [0.85], 1]);
  });

  it('never makes a call again that may have changed something, or that was denied', () => {
    const failed = (outcome: string, reason: string | null = null): Step => step('write', {}, 'no', outcome, reason);
    expect(kindsAfter([plan('write'), failed('execution')]).at(-1)).toBe('plan');
    expect(kindsAfter([plan('write'), failed('execution', 'outcome_unknown')]).at(-1)).toBe('plan');
    expect(kindsAfter([plan('write'), failed('validation', 'output_invalid')]).at(-1)).toBe('plan');
    expect(kindsAfter([plan('write'), failed('policy_denied', 'approval_refused')]).at(-1)).toBe('plan');
    // Nothing ran, or the tool says that nothing happened.
    expect(kindsAfter([plan('write'), failed('validation')]).at(-1)).toBe('retry');
    expect(kindsAfter([plan('write'), failed('execution', 'no_effect')]).at(-1)).toBe('retry');
    expect(kindsAfter([plan({ tool: 'write', confidence: 1 }), rows('write', 1)]).at(-1)).toBe('override');
  });

  it('has a judge asked only about what its formula accepts', () => {
    const judging = evaluatorOf({ judge: 'model' });
    expect(kindsAfter([plan('a'), rows('a', 0)], judging)).toEqual(['call', 'retry']);
    const good = [plan('a', 'b'), rows('a', 5)];
    expect(kindsAfter(good, judging)).toEqual(['call', 'judge']);
    expect(kindsAfter([...good, review({ confidence: 0.9 })], judging).at(-1)).toBe('call');
    expect(kindsAfter([...good, review({ confidence: 0.3 })], judging).at(-1)).toBe('retry');
    // A judge that says nothing leaves the formula’s word.
    expect(kindsAfter([...good, review({}, 'validation')], judging).at(-1)).toBe('call');
    expect(kindsAfter([...good, rows('b', 5)], judging).at(-1)).toBe('judge');
  });

  it('leaves out what is none of the run’s or of its plan', () => {
    const beside = { ...rows('b', 0), reason: 'not_planned', outcome: 'policy_denied' } as Step;
    const second = { ...rows('b', 0), index: 1 };
    expect(kindsAfter([plan('a', 'b'), beside, second, rows('a', 5)])).toEqual(['call', 'call', 'call', 'call']);
  });

  it('is no surer of its answer than of its least sure step, nor than the share that is done', () => {
    const sure = (history: readonly Step[]) => answerConfidence(run(history, evaluatorOf()).flow);
    expect(sure([])).toBeNull();
    expect(sure([plan('a', 'b')])).toBe(0);
    expect(sure([plan('a', 'b'), rows('a', 5)])).toBe(0.5);
    expect(sure([plan('a', 'b'), rows('a', 5), rows('b', 1)])).toBe(0.8);
    // A plan without steps gives up what was left; one with steps stands in its place.
    const failed = [plan('a', 'write'), rows('a', 5), step('write', {}, 'no', 'execution')];
    expect([sure([...failed, plan()]), kindsAfter([...failed, plan()]).at(-1)]).toEqual([0.5, 'partial']);
    expect(sure([...failed, plan('b'), rows('b', 1)])).toBe(0.8);
  });

  const anyStep = fc.oneof(
    fc.constantFrom(plan('a', 'b', 'write'), plan('write'), plan()),
    fc.tuple(fc.constantFrom('a', 'b', 'write'), fc.nat({ max: 6 })).map(([action, count]) => rows(action, count)),
    fc
      .tuple(fc.constantFrom('a', 'b', 'write'), fc.constantFrom('execution', 'validation', 'policy_denied'))
      .map(([action, outcome]) => step(action, {}, 'no', outcome)),
    fc
      .record({
        decision: fc.constantFrom('accept', 'replan', 'stop'),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      })
      .map((said) => review(said)),
  );
  const anySettings = fc.record({
    judge: fc.constantFrom('formula', 'model'),
    override: fc.constantFrom('model', 'person', 'none'),
    simplify: fc.boolean(),
    retries: fc.nat({ max: 3 }),
  });

  it('is the same for the same steps, and bounded, whatever a run did', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 20 }), anySettings, (history, given) => {
        const evaluator = evaluatorOf(given as Partial<ConfidenceSettings>);
        const { flow, next } = run(history, evaluator);
        expect(run(history, evaluator)).toEqual({ flow, next });
        const sure = answerConfidence(flow);
        if (sure !== null) {
          expect(sure).toBeGreaterThanOrEqual(0);
          expect(sure).toBeLessThanOrEqual(Math.min(1, ...flow.accepted));
        }
        expect(flow.done).toBeLessThanOrEqual(flow.plan?.steps.length ?? 0);
        if (next.kind === 'retry' || next.kind === 'simplify') {
          expect(next.attempt).toBeLessThanOrEqual(given.retries + 2);
          // What may have changed something is never made again.
          for (const { step: before, tool: of } of flow.attempts)
            expect([of?.id, before.outcome]).not.toEqual(['write', 'ok']);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('comes to an answer, whatever its results are: each turn that does what is expected leads on', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 }), { minLength: 60, maxLength: 60 }), anySettings, (counts, given) => {
        const evaluator = evaluatorOf(given as Partial<ConfidenceSettings>);
        const history: Step[] = [];
        for (const count of counts) {
          const { next } = run(history, evaluator);
          const { kind } = next;
          if (kind === 'answer' || kind === 'partial') return;
          if (next.kind === 'plan') history.push(plan('a', 'b'));
          else if (next.kind === 'judge') history.push(review({ confidence: count / 5 }));
          else if (next.kind === 'override')
            history.push(review({ decision: (['accept', 'replan', 'stop'] as const)[count % 3] }));
          else if (next.kind === 'call') history.push(rows(next.tool.id, count));
          else if (next.kind === 'retry' || next.kind === 'simplify')
            history.push(rows(next.tools[0]?.id ?? '', count));
        }
        throw new Error('The run did not end.');
      }),
    );
  });
});
