import { depthOf, isPlanned, normaliseGroups, notPermitted, withGroupsBelow } from '@sluice/core';
import type { ConfiguredTool, Decision, Evaluator, Facts, RunState } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';
import { ruleFactsOf } from './conditions.js';
import { connectionsOf } from './connections.js';
import { joinedTools } from './joined-tools.js';

/** A decision, and which of its groups stand in for a requested one without an available tool. */
interface ToolDecision {
  readonly decision: Decision;
  readonly fallbackGroups: readonly string[];
}

interface About {
  readonly request: AgentRequest;
  readonly run: RunState;
}

const none: readonly string[] = Object.freeze([]);

/** What a decision on a run’s next iteration rests on, under a configuration. */
function factsOf(about: About, evaluator: Evaluator, at: number): Facts {
  const { group: groups, state, toolIds } = about.request;
  const calls = about.run.toolCalls;
  const connections = connectionsOf(about, evaluator);
  const depth = depthOf(about.run);
  const rules = evaluator.availability.hasRules ? { rules: ruleFactsOf(about, evaluator, at) } : {};
  const planned = about.run.strategy !== null && isPlanned(about.run.strategy.name) ? { planned: true } : {};
  return { groups, state, toolIds, calls, connections, depth, ...planned, ...rules };
}

/**
 * The tools of a run’s next iteration, with the bounds of their arguments in their schemas. Groups that stand in for
 * others are among those that the caller may ask for.
 */
export function decideTools(about: About, evaluator: Evaluator, at: number): ToolDecision {
  const facts = factsOf(about, evaluator, at);
  const decision = evaluator.evaluate(facts);
  const fallbackGroups = fallbacksFor(facts, decision, evaluator, about.run.principal?.groups ?? none);
  const own = fallbackGroups.length === 0 ? decision : evaluator.evaluate(withFallbacks(facts, fallbackGroups));
  const offered = joinedTools(own.offered, about, evaluator);
  return { decision: offered === own.offered ? own : { ...own, offered }, fallbackGroups };
}

/** The facts of the decision in which these groups stand in. */
export function withFallbacks(facts: Facts, fallbackGroups: readonly string[]): Facts {
  return { ...facts, groups: [...normaliseGroups(facts.groups), ...fallbackGroups] };
}

/**
 * For each requested group without an offered tool, the first of its fallbacks that has one and that the caller may
 * use.
 */
export function fallbacksFor(
  facts: Facts,
  { offered, groups: requested }: Decision,
  evaluator: Evaluator,
  mayUse: readonly string[],
): readonly string[] {
  const { groupFallbacks, groupTree = {} } = evaluator.configuration;
  if (groupFallbacks === undefined) return none;
  const groups = normaliseGroups(facts.groups);
  const added: string[] = [];
  for (const group of groups) {
    const others = Object.hasOwn(groupFallbacks, group) ? (groupFallbacks[group] ?? none) : none;
    if (others.length === 0 || offered.some(isIn(withGroupsBelow(group, groupTree)))) continue;
    const permitted = others.filter((name) => notPermitted([name], mayUse, groupTree).length === 0);
    const first = permitted.find((name) => evaluator.evaluate({ ...facts, groups: [name] }).offered.length > 0);
    if (first !== undefined && !requested.includes(first) && !added.includes(first)) added.push(first);
  }
  return added;
}

function isIn(groups: readonly string[]): (tool: Pick<ConfiguredTool, 'groups'>) => boolean {
  return (tool) => tool.groups.some((group) => groups.includes(group));
}
