import { isJsonObject, wellFormedJson } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { parseArguments, readWritten } from '../calls.js';
import { referencesIn } from './references.js';

/** A step of a plan, as a model wrote it. */
export interface PlannedStep {
  /** The tool’s id or key. */
  readonly tool: string;
  /**
   * The arguments as JSON text, references to results in it; null where they are written when the step’s turn comes.
   */
  readonly arguments: string | null;
  /** Numbers of the steps before it whose results it needs, those that its arguments name among them. */
  readonly after: readonly number[];
  /** The state that it leads to, where the plan says so. */
  readonly state: string | null;
  readonly why: string;
  /** What a run of the strategy `confidence` holds the step to; null where its configuration says. */
  readonly confidence: number | null;
  readonly retries: number | null;
  readonly timeoutMs: number | null;
}

/** Steps in the order in which they run. */
export interface RunPlan {
  readonly steps: readonly PlannedStep[];
}

/**
 * The plan that these arguments of a call hold; null where they are not of the form, which the tool’s own check says.
 */
function planOf(args: JsonValue | undefined): RunPlan | null {
  if (!isJsonObject(args) || !Array.isArray(args['steps'])) return null;
  const steps = args['steps'].map(stepOf);
  return steps.some((step) => step === null) ? null : { steps: steps as PlannedStep[] };
}

export function planIn(text: string): RunPlan | null {
  return planOf(readWritten(text));
}

function stepOf(value: JsonValue): PlannedStep | null {
  if (!isJsonObject(value)) return null;
  const { tool, arguments: args = null, after = [], state = null, why = '' } = value;
  if (typeof tool !== 'string' || typeof why !== 'string') return null;
  if (!isTextOrNull(args) || !isTextOrNull(state)) return null;
  if (!Array.isArray(after) || !after.every((one) => typeof one === 'number')) return null;
  const { confidence = null, retries = null, timeout_seconds: seconds = null } = value;
  if (!isNumberOrNull(confidence) || !isNumberOrNull(retries) || !isNumberOrNull(seconds)) return null;
  const limits = { confidence, retries, timeoutMs: seconds === null ? null : seconds * 1_000 };
  const own = args === null ? null : wellFormedJson(args);
  const named = own === null ? [] : referencesIn(parseArguments(own) ?? null).references.map(({ step }) => step);
  return { tool, arguments: own, after: [...new Set([...after, ...named])], state, why, ...limits };
}

function isNumberOrNull(value: JsonValue): value is number | null {
  return value === null || typeof value === 'number';
}

function isTextOrNull(value: JsonValue): value is string | null {
  return value === null || typeof value === 'string';
}
