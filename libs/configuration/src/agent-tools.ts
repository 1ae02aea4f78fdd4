import {
  agentToolType,
  budgetOf,
  isListed,
  isWithin,
  mayCallAgents,
  modelName,
  modelsFor,
  modelsOf,
  quote,
  sentenceList,
  suggestion,
  toolEffects,
  wildcard,
} from '@sluice/core';
import type { Configuration, ConfiguredTool, Finding, GroupTree, Limits, Policy, Problem } from '@sluice/core';
import { leastAnswerBytes } from './agent-entry.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/**
 * `policy.allowed_agents`: which agents may be called, beside `allowed_tools`; without it none (K-63). Ids, in
 * configuration order.
 */
export function readAllowedAgents(section: Section, tools: readonly IdentifiedTool[]): readonly string[] {
  const agents = tools.filter(({ entry }) => entry.type === agentToolType);
  const byName = toolsByName(agents);
  const allowed = new Set<string>();
  const items = section.items('allowed_agents', 'a list of keys or ids of agents') ?? [];
  items.forEach((item, place) => {
    const path = section.itemAt('allowed_agents', place);
    if (item === wildcard) {
      if (items.length > 1) section.problem(path, '`*` among other entries', '`*` alone, or the names of the agents');
      for (const { id } of agents) allowed.add(id);
      return;
    }
    const agent = typeof item === 'string' ? byName.get(item) : undefined;
    if (agent !== undefined) allowed.add(agent.id);
    else if (typeof item === 'string')
      section.problem(path, `${quote(item)}, which is no agent`, suggestion(item, [...byName.keys()]));
    else section.problem(path, describe(item), 'the key or the id of an agent');
  });
  return agents.map(({ id }) => id).filter((id) => allowed.has(id));
}

/**
 * What cannot be seen in an entry alone: money needs a price to be counted by, and an answer that is cut needs room.
 */
export function checkAgents(
  tools: readonly IdentifiedTool[],
  {
    policy,
    limits,
    ...models
  }: Pick<Configuration, 'model' | 'fallbacks'> & { readonly policy: Policy; readonly limits: Limits },
  problems: Problem[],
): void {
  const agents = tools.filter(({ entry }) => entry.agent !== null);
  for (const { entry, id } of agents) {
    const known = modelsOf(models).map(modelName);
    if (entry.agent?.model !== undefined && !known.includes(entry.agent.model)) {
      const found = `the model ${quote(entry.agent.model)}, which is not in the list \`model\``;
      problems.push({ path: `${entry.path}.agent.model`, found, write: suggestion(entry.agent.model, known) });
    }
    const [model] = modelsFor(models, entry.agent ?? undefined);
    if (entry.agent?.microUsd != null && model.price === undefined) {
      const write =
        '`price: { input: …, output: … }` under `model`, in US dollars a million tokens; or leave `usd` out';
      problems.push({ path: `${entry.path}.agent.usd`, found: 'a budget in dollars and no price to count by', write });
    }
    const { resultBytes } = budgetOf(id, policy);
    if (resultBytes !== null && resultBytes < leastAnswerBytes) problems.push(noRoom(resultBytes, entry.key));
  }
  const [first] = agents;
  if (first !== undefined && limits.resultBytes < leastAnswerBytes)
    problems.push(noRoom(limits.resultBytes, first.entry.key, 'limits.result_bytes'));
}

/** An agent’s answer that is longer is cut, and must be able to say so. */
function noRoom(bytes: number, key: string, path = 'policy.budgets.tools'): Problem {
  const found = `results of ${String(bytes)} bytes for ${quote(key)}, which is an agent: nothing is left of a longer answer`;
  return { path, found, write: `\`result_bytes\` of ${String(leastAnswerBytes)} or more` };
}

/** How many calls of agents may be within one another (`policy.agent_depth`). */
export const depthRange = { byDefault: 1, most: 5 } as const;

/** What agents reach: the policy, the tree of the groups, and the groups that stand in for others. */
interface Reach {
  readonly policy: Policy;
  readonly tree: GroupTree;
  readonly fallbacks: Configuration['groupFallbacks'];
}

/**
 * Agents with the effect of what they can be offered: the highest of the allowed tools of their groups, and of those
 * of the agents that they may call, so that policy and approvals hold for what an agent can do and not for what it is
 * called.
 */
export function withAgentEffects(tools: readonly ConfiguredTool[], reach: Reach): readonly ConfiguredTool[] {
  if (tools.every(({ agent }) => agent === undefined)) return tools;
  const reached = reachOf(tools, reach);
  return tools.map((tool) => {
    const { agent, spec } = tool;
    if (agent === undefined || spec === null) return tool;
    const ranks = [...allWithin(tool, reached)].map((one) =>
      one.agent === undefined ? toolEffects.indexOf(one.spec?.effect ?? 'read_only') : 0,
    );
    const effect = toolEffects[Math.max(0, ...ranks)] ?? 'external_side_effect';
    return { ...tool, spec: { ...spec, effect }, repeatable: effect === 'read_only' };
  });
}

/** An agent that can come to call itself, through whatever others: it would only end with the depth, or a budget. */
export function checkCycles(
  tools: readonly ConfiguredTool[],
  reach: Reach,
  pathOf: (key: string) => string,
  problems: Problem[],
): void {
  const reached = reachOf(tools, reach);
  const reported = new Set<ConfiguredTool>();
  for (const tool of tools) {
    if (tool.agent === undefined || reported.has(tool)) continue;
    const cycle = wayBack(tool, reached);
    if (cycle === null) continue;
    for (const one of cycle) reported.add(one);
    const names = [...cycle, tool].map(({ key }) => quote(key)).join(' → ');
    problems.push({
      path: `${pathOf(tool.key)}.agent.group`,
      found: `agents that call each other in a circle: ${names}`,
      write: 'groups that do not hold the agent itself or what calls it, or `policy.agent_depth: 1`',
    });
  }
}

/** An agent that names groups and is left without a tool was hardly meant so. */
export function findToolless(
  tools: readonly ConfiguredTool[],
  reach: Reach,
  at: (tool: ConfiguredTool) => string,
): readonly Finding[] {
  const reached = reachOf(tools, reach);
  return tools.flatMap((tool): readonly Finding[] => {
    const { agent, key } = tool;
    if (agent === undefined || agent.groups.length === 0 || (reached.get(tool) ?? []).length > 0) return [];
    const message = `${key} works with the groups ${sentenceList(agent.groups)}, which hold no tool that the policy allows, so it works without tools.`;
    return [{ kind: 'toolless_agent', path: `${at(tool)}.agent.group`, message }];
  });
}

/** The tools that each agent can be offered, in whatever state; agents among them where agents may call agents. */
type Reached = ReadonlyMap<ConfiguredTool, readonly ConfiguredTool[]>;

function reachOf(tools: readonly ConfiguredTool[], { policy, tree, fallbacks = {} }: Reach): Reached {
  const callable = tools.filter(
    (tool) =>
      tool.spec !== null &&
      policy.allowedTools.includes(tool.id) &&
      (tool.agent === undefined || (isListed(tool, policy) && mayCallAgents(1, policy))),
  );
  return new Map(
    tools.flatMap((tool) => {
      if (tool.agent === undefined) return [];
      const { groups: own } = tool.agent;
      const groups = [
        ...own,
        ...own.flatMap((group) => (Object.hasOwn(fallbacks, group) ? (fallbacks[group] ?? []) : [])),
      ];
      const all = own.includes(wildcard);
      return [[tool, callable.filter((one) => all || one.groups.some((group) => isWithin(group, groups, tree)))]];
    }),
  );
}

/** What the agent can be offered, and what agents can that it may call. */
function allWithin(agent: ConfiguredTool, reached: Reached): ReadonlySet<ConfiguredTool> {
  const found = new Set<ConfiguredTool>(reached.get(agent));
  for (const tool of found) for (const one of reached.get(tool) ?? []) found.add(one);
  return found;
}

/** The shortest chain of agents, from the agent on, of which the last can be offered the agent; null if none can. */
function wayBack(agent: ConfiguredTool, reached: Reached): readonly ConfiguredTool[] | null {
  const ways = [[agent]];
  const seen = new Set([agent]);
  for (const way of ways) {
    const offered = reached.get(way.at(-1) ?? agent) ?? [];
    if (offered.includes(agent)) return way;
    for (const one of offered) {
      if (one.agent === undefined || seen.has(one)) continue;
      seen.add(one);
      ways.push([...way, one]);
    }
  }
  return null;
}
