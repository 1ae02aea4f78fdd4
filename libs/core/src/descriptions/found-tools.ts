import { isJsonObject } from '../json.js';
import type { Evaluator } from '../rules/evaluate.js';
import type { Step } from '../run/step.js';
import { searchToolsType } from './types.js';

/** Ids of the tools that a run’s model found with the search tool so far: what the steps of the search name that went well. */
export function foundTools(
  history: readonly Pick<Step, 'action' | 'observation' | 'outcome'>[],
  { tool }: Pick<Evaluator, 'tool'>,
): readonly string[] {
  const found = history.flatMap(({ action, observation, outcome }) =>
    outcome === 'ok' && tool(action)?.type === searchToolsType ? namesIn(observation) : [],
  );
  return [...new Set(found)];
}

/** None where a policy hides them, or where the result was cut. */
function namesIn(observation: string): readonly string[] {
  try {
    const result: unknown = JSON.parse(observation);
    if (!isJsonObject(result) || !Array.isArray(result['tools'])) return [];
    return result['tools'].flatMap((tool) =>
      isJsonObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [],
    );
  } catch {
    return [];
  }
}
