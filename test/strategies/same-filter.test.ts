import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localPrincipal } from '@sluice/core';
import type { RunState } from '@sluice/core';
import { beginning, decideIteration, withConditions } from '@sluice/run';
import type { Toolset } from '@sluice/contracts';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { startPlans, planner } from '../harness/with-plans.js';
import type { TestSystem } from '../harness/system.js';

const states = [null, 'undefined', 'research', 'analysis', 'modification', 'results', 'nowhere'];
const groups = [
  null,
  [],
  ['*'],
  ['read-only'],
  ['write'],
  ['admin'],
  ['advanced', 'text'],
  ['unknown'],
  ['read-only', 'admin'],
];

describe('every strategy', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = (await startPlans(planner([]), { agents: '{ default: { strategies: [plan, confidence] } }' })).opened;
  });
  afterAll(() => system.close());

  /** What the filter decides for a request of this strategy. */
  function decided(strategy: string | null, group: readonly string[] | null, state: string | null): Toolset | null {
    const { evaluator } = system.embedded.runtime.configurations.current();
    const ids = { requestId: 'r', sessionId: 's' };
    const request = { ...newRequest('What is there?', ids), group, state, strategy };
    const run: RunState = withConditions(beginning(request, localPrincipal, evaluator, 1).run, evaluator, {
      loads: {},
      held: [],
    });
    const iteration = decideIteration(ids, request, run, evaluator, 2);
    return iteration.kind === 'toolset' ? iteration.record : null;
  }

  it('has the same tools from the same filter, in every state and for all groups (G-71)', () => {
    const plans = ({ key }: { readonly key: string }): boolean => key === 'make-plan';
    let compared = 0;
    for (const state of states) {
      for (const group of groups) {
        const reacting = decided('react', group, state);
        const others = ({ tools, hidden }: Toolset) => [
          tools.filter((tool) => !plans(tool)),
          hidden.filter((tool) => !plans(tool)),
        ];
        for (const strategy of ['plan', 'confidence']) {
          const planning = decided(strategy, group, state);
          // Without a tool that takes plans a run by a plan does not begin.
          if (planning === null) continue;
          compared += 1;
          expect([strategy, state, group, others(planning)]).toEqual([
            ...[strategy, state, group, others(reacting as Toolset)],
          ]);
          expect(reacting?.tools.some(plans)).toBe(false);
          expect([planning.groups, planning.state]).toEqual([reacting?.groups, reacting?.state]);
        }
      }
    }
    expect(compared).toBeGreaterThan(80);
  });
});
