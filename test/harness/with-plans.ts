import type { ModelRequest } from '@sluice/core';
import { calls, ids as workflowIds, workflowConfiguration } from './configurations.js';
import { ScriptedModel, startSystem } from './system.js';
import type { Said, TestSystem } from './system.js';

export const ids = { ...workflowIds, plan: 'core__make-plan' } as const;

/** The workflow whose runs work by a plan; `plan` is YAML of the entry’s `plan`. */
export function withPlans(
  more: { plan?: string; agents?: string; policy?: string; limits?: string; entries?: string; allowed?: string } = {},
): string {
  const { plan = '{}', agents = '{ default: { strategy: plan } }', policy = '', limits = '', entries = '' } = more;
  const tool = `\n  make-plan: { type: plan, group: [read-only, admin, advanced], plan: ${plan} }\n${entries}`;
  return workflowConfiguration({
    allowed: `knowledge-query, graph-update, text-completion, complex-analysis, reset-workflow, make-plan${more.allowed ?? ''}`,
    limits: `agents: ${agents}\n${limits}`,
  }).replace(/^policy:$/m, `${tool}policy:${policy}`);
}

/** A step as a model writes it. */
export interface Step {
  readonly tool: string;
  readonly arguments?: string;
  readonly after?: readonly number[];
  readonly state?: string;
  readonly why: string;
  readonly confidence?: number;
  readonly retries?: number;
  readonly timeout_seconds?: number;
}

/** A step that makes one of the workflow’s calls as it stands. */
export function step([tool, args]: readonly [string, string], more: Partial<Step> = {}): Step {
  return { tool, arguments: args, why: `For ${tool}`, ...more };
}

export function planned(...steps: readonly Step[]): Said {
  return { thought: 'A plan', calls: [[ids.plan, JSON.stringify({ steps })]] };
}

/** Query, analysis and reset: undefined, analysis, results, undefined. */
export const wholeWorkflow = [step(calls.query), step(calls.analysis, { after: [1] }), step(calls.reset)] as const;

/**
 * A model that gives these plans one after another, the last one again and again, and answers what else it is asked.
 */
export function planner(
  plans: readonly Said[],
  others: (request: ModelRequest) => Said = () => ({ answer: 'All is done.' }),
): ScriptedModel {
  return new ScriptedModel((request) => {
    if (request.planning === undefined) return others(request);
    const made = request.history.filter(({ toolId }) => toolId === ids.plan).length;
    return plans[Math.min(made, plans.length - 1)] ?? { answer: 'There is no plan.' };
  });
}

export async function startPlans(model: ScriptedModel, ...given: Parameters<typeof withPlans>) {
  const opened: TestSystem = await startSystem(withPlans(...given), model);
  const end = (changes: Parameters<TestSystem['ask']>[0] = {}): ReturnType<TestSystem['ask']> =>
    opened.ask({ group: ['*'], requestId: 'run-1', sessionId: 'session-1', ...changes });
  return { opened, model, end };
}
