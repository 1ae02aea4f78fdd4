import { isJsonObject } from '../json.js';
import type { Evaluator } from '../rules/evaluate.js';
import type { Step } from '../run/step.js';
import { searchToolsType } from './types.js';

/** A search for tools, as its step has it. */
export interface StepSearch {
  readonly iteration: number;
  readonly query: string;
  /** Ids of tools. */
  readonly found: readonly string[];
  /** How it was answered; `all`: with all tools, since a service gave no selection. */
  readonly by: string;
  readonly failOpen: string | null;
}

/** The searches for tools that a run’s model made so far, of those that went well. */
export function searchesIn(
  history: readonly Pick<Step, 'action' | 'arguments' | 'iteration' | 'observation' | 'outcome'>[],
  { tool }: Pick<Evaluator, 'tool'>,
): readonly StepSearch[] {
  return history.flatMap((step) => {
    if (step.outcome !== 'ok' || tool(step.action)?.type !== searchToolsType) return [];
    const result = objectOf(step.observation);
    const { query = '' } = objectOf(step.arguments);
    const { tools, by = '', fail_open: failOpen = null } = result;
    return [
      {
        iteration: step.iteration,
        query: typeof query === 'string' ? query : '',
        found: Array.isArray(tools) ? tools.flatMap(nameOf) : [],
        by: typeof by === 'string' ? by : '',
        failOpen: typeof failOpen === 'string' ? failOpen : null,
      },
    ];
  });
}

function nameOf(tool: unknown): readonly string[] {
  return isJsonObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [];
}

/** Empty where a policy hides the result, or where it was cut. */
function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
