import { canonicalJson, type JsonObject, type JsonValue, type ModelStep, type ModelTool } from '@sluice/core';
import { fillArguments, type Material } from './arguments.js';
import type { Clause } from './clauses.js';
import { fitness, leastFitness, mayServe } from './fitness.js';
import { jsonOf, rowsOf } from './observations.js';
import { firstOpen, type ClauseProgress } from './progress.js';
import { kindOf } from './properties.js';

/** What to do about one clause. */
export type Plan =
  | { readonly kind: 'call'; readonly tool: ModelTool; readonly arguments: JsonObject; readonly isCorrection: boolean }
  /** The same was asked and answered before. */
  | { readonly kind: 'known'; readonly step: ModelStep }
  | { readonly kind: 'no_tool' }
  /** A tool fits, but neither the question nor the observations say what it needs. */
  | { readonly kind: 'unfilled'; readonly tool: string; readonly missing: readonly string[] }
  | { readonly kind: 'failed'; readonly step: ModelStep };

/** What the observations hold that a call could be given. */
type Found = Omit<Material, 'clause'>;

export function foundIn(history: readonly ModelStep[]): Found {
  const results = history.filter((step) => step.outcome === 'ok').map((step) => step.observation);
  const tables = results.map((observation) => rowsOf(jsonOf(observation)) ?? []);
  return { rows: tables.findLast((rows) => rows.length > 0), basis: results.at(-1) };
}

/** The best fitting tool that was not tried in vain; among equals the one offered first. */
export function planFor(
  { clause, steps }: ClauseProgress,
  tools: readonly ModelTool[],
  history: readonly ModelStep[],
  found: Found,
): Plan {
  const ranked = tools
    .map((tool) => ({ tool, points: fitness(tool, clause) }))
    .filter(({ points }) => points >= leastFitness)
    .sort((a, b) => b.points - a.points);
  const material = { clause, ...found };
  let unfilled: Plan | undefined;

  for (const { tool } of ranked) {
    const tried = steps.filter((step) => step.toolId === tool.id);
    const { value, missing } = fillArguments(tool.inputSchema, material);
    if (missing.length > 0 || isShotInTheDark(tool, value, clause)) {
      unfilled ??= { kind: 'unfilled', tool: tool.id, missing: missing.length > 0 ? missing : propertiesOf(tool) };
      continue;
    }
    const last = tried.at(-1);
    const wanted = last === undefined ? value : corrected(value, tool, tried, clause);
    const earlier = wanted === undefined ? undefined : history.find((step) => isSameCall(step, tool, wanted));
    if (wanted === undefined) continue;
    if (earlier === undefined || (clause.intent.acts && !steps.includes(earlier))) {
      return { kind: 'call', tool, arguments: wanted, isCorrection: last !== undefined };
    }
    if (earlier.outcome === 'ok') return { kind: 'known', step: earlier };
  }
  const failed = steps.findLast((step) => step.outcome !== 'ok');
  return failed !== undefined ? { kind: 'failed', step: failed } : (unfilled ?? { kind: 'no_tool' });
}

/**
 * What to call where something must be called and nothing fits: the best fitting tool for the first open clause, else
 * for the last one, among equals the one offered first; one that changes something only where the clause orders that,
 * or the request names it. What its schema requires and the clause does not say is left out, so that the tool’s own
 * check says it. Null without a clause or a tool.
 */
export function forcedPlan(
  progress: readonly ClauseProgress[],
  tools: readonly ModelTool[],
  found: Found,
  isNamed: boolean,
): { readonly clause: Clause; readonly plan: Plan & { kind: 'call' } } | null {
  const clause = (progress[firstOpen(progress)] ?? progress.at(-1))?.clause;
  if (clause === undefined) return null;
  const [best] = tools
    .filter((tool) => isNamed || mayServe(tool, clause))
    .toSorted((a, b) => fitness(b, clause) - fitness(a, clause));
  if (best === undefined) return null;
  const { value } = fillArguments(best.inputSchema, { clause, ...found });
  return { clause, plan: { kind: 'call', tool: best, arguments: value, isCorrection: false } };
}

/**
 * Once, and only where the arguments may be at fault: without the optional ones that the error names, or without the
 * guessed relation, or without any optional one. What failed while it changed something is left alone.
 */
function corrected(
  value: JsonObject,
  tool: ModelTool,
  tried: readonly ModelStep[],
  clause: Clause,
): JsonObject | undefined {
  const [last] = tried;
  const mayHelp: readonly string[] = clause.intent.acts
    ? ['validation', 'invalid_json']
    : ['validation', 'invalid_json', 'execution'];
  if (last === undefined || tried.length > 1 || !mayHelp.includes(last.outcome)) return undefined;
  const required: JsonValue = tool.inputSchema['required'] ?? [];
  const optional = Object.keys(value).filter((name) => !(Array.isArray(required) && required.includes(name)));
  const named = optional.filter((name) => new RegExp(`\\b${name.replace(/[^\w]/g, '.')}\\b`).test(last.observation));
  const guessed = optional.filter((name) => kindOf(name, '') === 'relation');
  return [named, guessed, optional]
    .map((dropped) => Object.fromEntries(Object.entries(value).filter(([name]) => !dropped.includes(name))))
    .find((kept) => Object.keys(kept).length > 0 && Object.keys(kept).length < Object.keys(value).length);
}

function isShotInTheDark(tool: ModelTool, value: JsonObject, clause: Clause): boolean {
  if (!clause.intent.needsArguments || Object.keys(value).length > 0) return false;
  // A tool that takes nothing may still be what was asked for, if the clause speaks of it.
  return propertiesOf(tool).length > 0 || fitness(tool, clause) < leastFitness + 3;
}

function propertiesOf(tool: ModelTool): string[] {
  return Object.keys((tool.inputSchema['properties'] ?? {}) as JsonObject);
}

function isSameCall(step: ModelStep, tool: ModelTool, value: JsonObject): boolean {
  if (step.toolId !== tool.id) return false;
  const past = jsonOf(step.arguments === '' ? '{}' : step.arguments);
  return past !== undefined && canonicalJson(past) === canonicalJson(value);
}
