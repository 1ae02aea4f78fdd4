import { isJsonObject, matchesPattern } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';
import { offeredTo } from './tool-list.js';
import type { Asking } from './tool-list.js';

/**
 * The entries whose resources or prompts the caller may have now, in the order of the configuration: the decision
 * that is made of tools.
 */
export function passedOnTo(kind: PassedOnKind, asking: Asking, evaluator: Evaluator): readonly ConfiguredTool[] {
  const ids = evaluator.configuration.tools.flatMap(({ id, mcp }) => (mcp?.kind === kind ? [id] : []));
  return ids.length === 0 ? [] : offeredTo(asking, evaluator, ids);
}

/** Whether a configuration passes anything of the kind on. */
export function passesOn(kind: PassedOnKind, { configuration: { tools } }: Pick<Evaluator, 'configuration'>): boolean {
  return tools.some(({ mcp }) => mcp?.kind === kind);
}

/** Whether the resource of this address is one of the entry’s. */
export function hasResource({ mcp }: Pick<ConfiguredTool, 'mcp'>, uri: string): boolean {
  return mcp !== null && matchesPattern(mcp.tool, uri);
}

/** What a finished call said, as the object that the hub makes of an upstream server’s answer; null for what failed. */
export function saidBy({ outcome, observation }: Pick<AgentStep, 'outcome' | 'observation'>): JsonObject | null {
  if (outcome !== 'ok') return null;
  const value = JSON.parse(observation) as JsonValue;
  return isJsonObject(value) ? value : null;
}

/** Entries of lists of several servers: of two with one address or name the first counts. */
export function eachOnce(lists: readonly (readonly JsonValue[])[], name: string): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const one of lists.flat())
    if (isJsonObject(one) && typeof one[name] === 'string' && !found.has(one[name])) found.set(one[name], one);
  return [...found.values()];
}
