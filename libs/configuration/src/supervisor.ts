import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { AgentStrategies } from './strategy.js';
import { mayCallAgents, onErrorChoices } from '@sluice/core';
import type { Configuration, Policy, Problem } from '@sluice/core';

/** `agents.default.supervisor`: how runs work whose strategy is `supervisor`. */
export function readSupervisor(agent: Section): Pick<Configuration, 'supervisor'> {
  if (!agent.has('supervisor')) return {};
  const section = agent.section('supervisor').closed(configurationKeys['agents.default.supervisor']);
  return { supervisor: { onError: section.choice('on_error', onErrorChoices) ?? 'collect' } };
}

/**
 * A supervisor needs an agent to hand parts of the question to, and is one itself only where agents may call agents.
 */
export function checkSupervisors(
  tools: readonly IdentifiedTool[],
  agents: AgentStrategies,
  policy: Pick<Policy, 'allowedTools' | 'allowedAgents' | 'agentDepth'>,
  problems: Problem[],
): void {
  for (const { entry } of tools) {
    if (entry.agent?.strategy !== 'supervisor' || mayCallAgents(1, policy)) continue;
    const found = 'the strategy `supervisor` for an agent, which may call no further one';
    problems.push({
      path: `${entry.path}.agent.strategy`,
      found,
      write: 'another strategy, or `policy.agent_depth` of 2 or more',
    });
  }
  const { allowedTools, allowedAgents = [] } = policy;
  if (tools.some(({ entry, id }) => entry.agent !== null && allowedTools.includes(id) && allowedAgents.includes(id)))
    return;
  const found = 'the strategy `supervisor` and no agent that may be called';
  const write = 'a tool of `type: agent` that policy.allowed_tools and policy.allowed_agents name, or another strategy';
  for (const [agent, strategy] of agents) {
    if (strategy.byDefault === 'supervisor') problems.push({ path: `agents.${agent}.strategy`, found, write });
    if (strategy.forRequests.includes('supervisor'))
      problems.push({ path: `agents.${agent}.strategies`, found, write });
  }
}
