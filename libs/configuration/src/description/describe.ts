import {
  boundsInWords,
  compileRules,
  mcpToolType,
  needsApproval,
  openApiToolType,
  quote,
  ruleInWords,
  sentenceList,
  spanBudgetInWords,
  undefinedState,
  wildcard,
  withGroupsBelow,
} from '@sluice/core';
import type { BoundInWords, Configuration, ConfiguredTool, Finding, Policy, ToolEffect } from '@sluice/core';
import { findEverything } from '../findings.js';
import { join } from '../problems.js';
import { findAboutRoles } from '../role-findings.js';
import { findAboutRules } from '../rules.js';
import { findAboutSpans } from '../span-budgets.js';
import { stateGraph } from '../state-graph.js';

/** Names of a list that a sentence holds. */
const shownNames = 10;

/** A compiled configuration as people read it, on the wire: what there is, and each rule in words. */
export interface ConfigurationDescription {
  readonly groups: readonly DescribedGroup[];
  readonly states: readonly DescribedState[];
  readonly tools: readonly DescribedTool[];
  readonly agents: readonly DescribedAgent[];
  readonly rules: readonly DescribedRule[];
  /** What the policy says, a sentence each. */
  readonly policy: readonly string[];
}

interface DescribedGroup {
  readonly name: string;
  /** The groups directly within it. */
  readonly groups: readonly string[];
  /** Keys of the tools that a request for it covers. */
  readonly tools: readonly string[];
}

interface DescribedState {
  readonly name: string;
  /** Keys of the tools that are available in it. */
  readonly tools: readonly string[];
  /** By the key of a tool that leads to another state: that state. */
  readonly transitions: Readonly<Record<string, string>>;
  /** Whether a run that starts in `undefined` can come here. */
  readonly reachable: boolean;
  /** Whether no tool is available in it. */
  readonly dead_end: boolean;
}

interface DescribedTool {
  readonly key: string;
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly type: string;
  /** `built_in`, `file`, `mcp`, `openapi` or `agent`. */
  readonly source: 'built_in' | 'file' | 'mcp' | 'openapi' | 'agent';
  /** The server, or the file, that it comes from; null for others. */
  readonly source_name: string | null;
  readonly effect: ToolEffect | null;
  readonly groups: readonly string[];
  readonly available_in_states: readonly string[];
  /** The state after it succeeds; null for no change. */
  readonly state: string | null;
  readonly connection: string | null;
  /** Whether the policy allows it at all. */
  readonly allowed: boolean;
  readonly needs_approval: boolean;
  /** Why it cannot be offered now; null where it can. */
  readonly unavailable: string | null;
  /** Names of the rules about it. */
  readonly rules: readonly string[];
  /** What its arguments must be, by which rule. */
  readonly bounds: readonly BoundInWords[];
}

interface DescribedAgent {
  readonly key: string;
  readonly groups: readonly string[];
  readonly state: string | null;
  readonly strategy: string;
  readonly max_iterations: number | null;
}

interface DescribedRule {
  readonly name: string;
  /** A sentence for each condition; all of them must hold. */
  readonly words: readonly string[];
  /** Keys of the tools that it is about. */
  readonly tools: readonly string[];
}

export function describeConfiguration(configuration: Configuration): ConfigurationDescription {
  const { tools, policy, rules = [] } = configuration;
  const keys = new Map(tools.map(({ id, key }) => [id, key]));
  const keyOf = (id: string): string => keys.get(id) ?? id;
  const ofTool = Map.groupBy(
    rules.flatMap(({ name, tools: ids }) => ids.map((id) => ({ name, id }))),
    ({ id }) => id,
  );
  const allowed = new Set(policy.allowedTools);
  const bounds = boundsInWords(configuration);
  return {
    groups: groupsOf(configuration),
    states: statesOf(tools),
    tools: tools.map((tool) => ({
      ...{ key: tool.key, id: tool.id, title: tool.title, description: tool.description, type: tool.type },
      ...sourceOf(tool),
      effect: tool.spec?.effect ?? null,
      ...{ groups: tool.groups, available_in_states: tool.states, state: tool.target },
      connection: tool.connection ?? null,
      ...{ allowed: allowed.has(tool.id), needs_approval: needsApproval(tool, policy), unavailable: tool.unavailable },
      rules: (ofTool.get(tool.id) ?? []).map(({ name }) => name),
      bounds: bounds.get(tool.id) ?? [],
    })),
    agents: tools.flatMap(({ key, agent }) =>
      agent === undefined
        ? []
        : [
            {
              ...{ key, groups: agent.groups, state: agent.state, strategy: agent.strategy ?? 'react' },
              max_iterations: agent.maxIterations,
            },
          ],
    ),
    rules: rules.map((rule) => ({
      name: rule.name,
      words: ruleInWords(rule, keyOf),
      tools: rule.tools.map(keyOf),
    })),
    policy: policyInWords(policy, keyOf),
  };
}

/** Every group by its name, without the wildcard. */
export function groupNamesOf({ tools, groupTree = {} }: Pick<Configuration, 'tools' | 'groupTree'>): readonly string[] {
  return [...compileRules(tools, groupTree).knownGroups].filter((name) => name !== wildcard).sort();
}

/** Every state by its name, `undefined` first. */
export function stateNamesOf(tools: readonly ConfiguredTool[]): readonly string[] {
  const others = [...compileRules(tools).knownStates].filter((name) => name !== undefinedState);
  return [undefinedState, ...others.sort()];
}

function groupsOf(configuration: Configuration): readonly DescribedGroup[] {
  const { tools, groupTree = {} } = configuration;
  return groupNamesOf(configuration).map((name) => {
    const covered = new Set(withGroupsBelow(name, groupTree));
    const within = tools.filter(({ groups }) => groups.some((group) => covered.has(group)));
    return {
      name,
      groups: Object.hasOwn(groupTree, name) ? (groupTree[name] ?? []) : [],
      tools: within.map(({ key }) => key),
    };
  });
}

function statesOf(tools: readonly ConfiguredTool[]): readonly DescribedState[] {
  const names = stateNamesOf(tools);
  const { reachable } = stateGraph(tools, new Set(names));
  return names.map((name) => {
    const here = tools.filter(({ states }) => states.includes(name) || states.includes(wildcard));
    const moving = here.filter(({ target }) => target !== null && target !== name);
    return {
      name,
      tools: here.map(({ key }) => key),
      transitions: Object.fromEntries(moving.map(({ key, target }) => [key, target ?? ''])),
      ...{ reachable: reachable.has(name), dead_end: here.length === 0 },
    };
  });
}

function sourceOf({ type, mcp, file, agent }: ConfiguredTool): Pick<DescribedTool, 'source' | 'source_name'> {
  if (agent !== undefined) return { source: 'agent', source_name: null };
  if (type === openApiToolType) return { source: 'openapi', source_name: mcp?.server ?? null };
  if (mcp !== null || type === mcpToolType) return { source: 'mcp', source_name: mcp?.server ?? null };
  return file === undefined ? { source: 'built_in', source_name: null } : { source: 'file', source_name: file.path };
}

function policyInWords(policy: Policy, keyOf: (id: string) => string): readonly string[] {
  const { approvers, approvalEffects, approvalMs, approvalWaived, requesterMayNotApprove, budgets } = policy;
  const { callsPerRun, tokensPerRun, microUsdPerRun } = budgets;
  const minutes = approvalMs / 60_000;
  return [
    allowedInWords(policy.allowedTools.length),
    ...agentsInWords(policy, keyOf),
    ...(approvalEffects.length === 0
      ? [`No call needs an approval${approvalWaived === undefined ? '' : `: ${quote(approvalWaived)}`}.`]
      : [
          `Calls with the effect ${sentenceList(approvalEffects)} need an approval, for which they wait ${String(minutes)} minutes at most.`,
          approvers.length === 0
            ? 'There is no approver, so tools with these effects are never offered.'
            : `${approvers.includes(wildcard) ? 'Everybody' : sentenceList(approvers, shownNames)} may approve${requesterMayNotApprove ? ', but for who asked' : ''}.`,
        ]),
    ...(callsPerRun === null ? [] : [`A run may make ${String(callsPerRun)} calls.`]),
    ...(tokensPerRun === undefined ? [] : [`A run may use ${String(tokensPerRun)} tokens.`]),
    ...(microUsdPerRun === undefined ? [] : [`A run may cost ${String(microUsdPerRun / 1e6)} US dollars.`]),
    ...(budgets.spans ?? []).map(spanBudgetInWords),
    ...Object.entries(budgets.tools).flatMap(([id, budget]) => {
      const bounds = [
        ...(budget.callsPerRun === null ? [] : [`${String(budget.callsPerRun)} calls a run`]),
        ...(budget.callsPerMinute === null ? [] : [`${String(budget.callsPerMinute)} calls a minute for each tenant`]),
        ...(budget.timeoutMs === null ? [] : [`${String(budget.timeoutMs / 1_000)} seconds a call`]),
        ...(budget.resultBytes === null ? [] : [`${String(budget.resultBytes)} bytes a result`]),
      ];
      return bounds.length === 0 ? [] : [`${keyOf(id)} has at most ${sentenceList(bounds)}.`];
    }),
  ];
}

function agentsInWords({ allowedAgents = [], agentDepth }: Policy, keyOf: (id: string) => string): readonly string[] {
  if (allowedAgents.length === 0) return [];
  const depth = agentDepth === undefined ? '' : `, ${String(agentDepth)} levels deep at most`;
  return [`As agents may be called ${sentenceList(allowedAgents.map(keyOf), shownNames)}${depth}.`];
}

function allowedInWords(count: number): string {
  if (count === 0) return 'No tool is allowed.';
  return count === 1 ? '1 tool is allowed.' : `${String(count)} tools are allowed.`;
}

/** The findings about a compiled configuration that follow from it alone; paths are those of the file’s keys. */
export function findInConfiguration({
  tools,
  policy,
  groupTree = {},
  groupFallbacks: standIns,
  rules = [],
  identity,
  model,
  fallbacks,
}: Configuration): readonly Finding[] {
  const paths = new Map(tools.map(({ key }) => [key, join('tool', key)]));
  return [
    ...findEverything(tools, policy, { paths, allowed: new Map(), tree: groupTree, fallbacks: standIns, identity }),
    ...findAboutRules(rules, policy.allowedTools),
    ...findAboutRoles(identity, tools, groupTree),
    ...findAboutSpans({ policy, model, ...(fallbacks === undefined ? {} : { fallbacks }) }),
  ];
}
