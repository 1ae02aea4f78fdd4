import type { IdentifiedTool } from './identities.js';
import { planToolType } from './plan-entry.js';
import { quote } from './problems.js';
import type { Section } from './section.js';
import { strategyNames } from './types.js';
import type { Configuration, Policy, Problem, StrategyName } from './types.js';

/** `agents.default.strategy` and `strategies`: how runs come to their answers, and what a request may choose. */
export function readStrategy(file: Section): Pick<Configuration, 'strategy'> {
  const agent = file.section('agents').section('default');
  const byDefault = agent.choice('strategy', strategyNames);
  const names = agent.names('strategies', `a list of strategies, such as \`[${strategyNames.join(', ')}]\``);
  names?.forEach((name, place) => {
    if (strategyNames.some((known) => known === name)) return;
    agent.problem(
      agent.itemAt('strategies', place),
      `the unknown strategy ${quote(name)}`,
      `one of ${strategyNames.join(', ')}`,
    );
  });
  const chosen = strategyNames.filter((name) => names?.includes(name) ?? false);
  if (byDefault === null && chosen.length === 0) return {};
  return { strategy: { byDefault: byDefault ?? 'react', forRequests: chosen } };
}

/** A strategy that works by a plan needs a tool that takes it. */
export function checkStrategies(
  tools: readonly IdentifiedTool[],
  { strategy }: Pick<Configuration, 'strategy'>,
  policy: Pick<Policy, 'allowedTools' | 'approvers'>,
  problems: Problem[],
): void {
  for (const { entry } of tools)
    if (entry.plan?.confidence?.override === 'person' && policy.approvers.length === 0)
      problems.push({
        path: `${entry.path}.plan.confidence.override`,
        found: 'a person who decides, and nobody who may approve',
        write: '`policy.approval.approvers`, or `override: model` or `none`',
      });
  const takes = tools.some(({ entry, id }) => entry.plan !== null && policy.allowedTools.includes(id));
  if (takes) return;
  const write = `a tool \`make-plan: { type: ${planToolType}, group: […] }\` that policy.allowed_tools names, or another strategy`;
  const wanting = (path: string, name: StrategyName): void => {
    problems.push({ path, found: `the strategy ${quote(name)} and no allowed tool that takes a plan`, write });
  };
  if (strategy !== undefined && isPlanned(strategy.byDefault)) wanting('agents.default.strategy', strategy.byDefault);
  const choice = strategy?.forRequests.find(isPlanned);
  if (choice !== undefined) wanting('agents.default.strategies', choice);
  for (const { entry } of tools) {
    const name = entry.agent?.strategy;
    if (name !== undefined && isPlanned(name)) wanting(`${entry.path}.agent.strategy`, name);
  }
}

/** Whether runs of the strategy make their calls by a plan. */
export function isPlanned(name: string): boolean {
  return name === 'plan' || isConfidence(name);
}

/** Whether runs of the strategy measure the results of their plan’s steps. */
export function isConfidence(name: string): boolean {
  return name === 'confidence';
}
