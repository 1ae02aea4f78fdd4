import { choosingStrategies, discoveryStrategies, discoveryStrategy, searchToolsType } from '@sluice/core';
import type { Configuration, Finding } from '@sluice/core';
import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import { readDiscovery, readSelector } from './pipes.js';
import type { Providers } from './pipes.js';
import type { Section } from './section.js';

/**
 * `agents.default.tool_discovery`: a strategy that chooses among the offered tools before the agent’s model is asked.
 */
export function readAgentDiscovery(
  agent: Section,
  tools: readonly IdentifiedTool[],
  providers: Providers,
  findings: Finding[],
): Pick<Configuration, 'agentDiscovery'> {
  if (!agent.has('tool_discovery')) return {};
  const section = agent.section('tool_discovery').closed(configurationKeys['agents.default.tool_discovery']);
  const strategy = section.choice('strategy', discoveryStrategies);
  if (section.usable && !section.has('strategy'))
    section.problem(section.at('strategy'), 'nothing', `one of ${discoveryStrategies.join(', ')}`);
  const searches = strategy !== null && discoveryStrategy(strategy).kind === 'search';
  if (searches && !tools.some(({ entry }) => entry.type === searchToolsType))
    section.problem(
      section.at('strategy'),
      `\`${strategy}\`, and no tool that searches`,
      `a tool of \`type: ${searchToolsType}\` under \`tool\`, or another strategy`,
    );
  const settings = readDiscovery(section, readSelector(section, providers), findings);
  const shadow = section.choice('shadow', choosingStrategies);
  return strategy === null ? {} : { agentDiscovery: { ...settings, ...(shadow === null ? {} : { shadow }) } };
}
