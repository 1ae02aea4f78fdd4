import type { ModelRequest } from '@sluice/core';
import { planned, planner, startPlans } from './with-plans.js';
import type { Step, withPlans } from './with-plans.js';
import type { Said } from './system.js';

/** Two ways to look something up that change no state, beside the workflow’s own. */
const lookups = `  lookup: { type: knowledge-query, name: Lookup, description: Look something up, group: [read-only] }
  glossary: { type: knowledge-query, name: Glossary, description: Say what a word means, group: [read-only] }
`;

export const lookupId = 'core__lookup';
export const glossaryId = 'core__glossary';

/** A query that gives so many rows, whatever the graph holds. */
export function rows(count: number): string {
  const values = Array.from({ length: count }, (_, n) => String(n)).join(' ');
  return JSON.stringify({
    sparql: count === 0 ? 'SELECT * WHERE { VALUES ?n {} }' : `SELECT ?n WHERE { VALUES ?n { ${values} } }`,
  });
}

/** What a run’s configuration says of confidence, as YAML; and its approvals. */
export interface Given {
  readonly confidence?: string;
  readonly plan?: string;
  readonly policy?: string;
  readonly limits?: string;
  readonly agents?: string;
  readonly entries?: string;
  readonly allowed?: string;
}

export function withConfidence(given: Given = {}): Parameters<typeof withPlans>[0] {
  const { confidence = '{}', plan = '', policy, limits, entries = '', allowed = '' } = given;
  return {
    plan: `{ ${plan === '' ? '' : `${plan}, `}confidence: ${confidence} }`,
    agents: given.agents ?? '{ default: { strategy: confidence } }',
    entries: lookups + entries,
    allowed: `, lookup, glossary${allowed}`,
    ...(policy === undefined ? {} : { policy }),
    ...(limits === undefined ? {} : { limits }),
  };
}

/**
 * All services, whose runs measure the results of this plan’s steps; `others` says what the model does where it is
 * asked for anything else.
 */
export async function startMeasured(
  steps: readonly Step[],
  others: (request: ModelRequest) => Said | Promise<Said>,
  given: Given = {},
) {
  const model = planner([planned(...steps)], others as (request: ModelRequest) => Said);
  return startPlans(model, withConfidence(given));
}

/** A call of this tool where it is shown; the answer where none is. */
export function callOr(
  next: (request: ModelRequest, tool: string) => readonly [string, string],
): (request: ModelRequest) => Said {
  return (request) => {
    const [tool] = request.tools;
    return tool === undefined ? { answer: 'All is done.' } : { calls: [next(request, tool.id)] };
  };
}

/** A review as the model writes it. */
export function review(said: object): string {
  return JSON.stringify({ review: { why: 'By what it gave.', ...said } });
}
