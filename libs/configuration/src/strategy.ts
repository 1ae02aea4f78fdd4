import { isPlanned, planToolType, quote, strategyNames } from '@sluice/core';
import type { Configuration, Policy, Problem, StrategyName, StrategySettings } from '@sluice/core';
import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

/**
 * `agents.default.strategy`, `strategies` and `auto`: how runs come to their answers, what a request may choose, and
 * what `auto` may.
 */
export function readStrategy(agent: Section): Pick<Configuration, 'strategy'> {
  const byDefault = agent.choice('strategy', strategyNames);
  const chosen = readNames(agent, 'strategies', strategyNames);
  const auto = readAuto(agent);
  if (byDefault === null && chosen.length === 0 && auto === null) return {};
  return { strategy: { byDefault: byDefault ?? 'react', forRequests: chosen, ...(auto === null ? {} : { auto }) } };
}

/** By the name of an agent: how its runs come to their answers. */
export type AgentStrategies = readonly (readonly [string, StrategySettings])[];

/** Of the default agent, and of those that say something of it. */
export function strategiesOf({ strategy, agents = {} }: Pick<Configuration, 'strategy' | 'agents'>): AgentStrategies {
  const all = [
    ['default', strategy] as const,
    ...Object.entries(agents).map(([name, own]) => [name, own.strategy] as const),
  ];
  return all.flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const]));
}

/** Strategies that `auto` chooses from: no rule says when to supervise. */
const fixedStrategies = ['react', 'plan', 'confidence'] as const satisfies readonly StrategyName[];

/** Null where nothing is written, which means all. */
function readAuto(agent: Section): readonly StrategyName[] | null {
  if (!agent.has('auto')) return null;
  const section = agent.section('auto').closed(configurationKeys['agents.default.auto']);
  const names = readNames(section, 'strategies', fixedStrategies);
  if (names.length === 0 && section.usable && !section.has('strategies'))
    section.problem(section.at('strategies'), 'nothing', `strategies to choose from, such as \`[react, plan]\``);
  else if (names.length === 0 && section.usable)
    section.problem(section.at('strategies'), 'no strategy', `at least one of ${fixedStrategies.join(', ')}`);
  return names;
}

/** In the order of all strategies, so that the order in the file makes no new version. */
function readNames(section: Section, key: 'strategies', known: readonly StrategyName[]): readonly StrategyName[] {
  const names = section.names(key, `a list of strategies, such as \`[${known.join(', ')}]\``);
  names?.forEach((name, place) => {
    if (known.some((one) => one === name)) return;
    section.problem(section.itemAt(key, place), `the unknown strategy ${quote(name)}`, `one of ${known.join(', ')}`);
  });
  return known.filter((name) => names?.includes(name) ?? false);
}

/** A strategy that works by a plan needs a tool that takes it. */
export function checkStrategies(
  tools: readonly IdentifiedTool[],
  agents: AgentStrategies,
  policy: Pick<Policy, 'allowedTools' | 'approvers'>,
  problems: Problem[],
): void {
  for (const { entry } of tools)
    if (entry.plan?.confidence?.override === 'person' && policy.approvers.length === 0)
      problems.push({
        path: `${entry.path}.plan.confidence.override`,
        found: 'a person who decides, and no approver',
        write: '`policy.approval.approvers`, or `override: model` or `none`',
      });
  const takes = tools.some(({ entry, id }) => entry.plan !== null && policy.allowedTools.includes(id));
  if (takes) return;
  const write = `a tool \`make-plan: { type: ${planToolType}, group: […] }\` that policy.allowed_tools names, or another strategy`;
  const wanting = (path: string, name: StrategyName): void => {
    problems.push({ path, found: `the strategy ${quote(name)} and no allowed tool that takes a plan`, write });
  };
  for (const [agent, strategy] of agents) {
    if (isPlanned(strategy.byDefault)) wanting(`agents.${agent}.strategy`, strategy.byDefault);
    const choice = strategy.forRequests.find(isPlanned);
    if (choice !== undefined) wanting(`agents.${agent}.strategies`, choice);
    const routed = strategy.auto?.find(isPlanned);
    if (routed !== undefined && strategy.auto?.includes('react') === false)
      wanting(`agents.${agent}.auto.strategies`, routed);
  }
  for (const { entry } of tools) {
    const name = entry.agent?.strategy;
    if (name !== undefined && isPlanned(name)) wanting(`${entry.path}.agent.strategy`, name);
  }
}
