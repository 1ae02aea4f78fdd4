import { defaultAgent, suggestion } from '@sluice/core';
import type { AgentSettings, ConfiguredTool, NamedAgent, NamedAgents, Problem } from '@sluice/core';
import type { IdentifiedTool } from './identities.js';

/** Tools of `type: agent` that name an entry under `agents`, with what they do not say themselves from there. */
export function withNamedAgents(
  tools: readonly ConfiguredTool[],
  identified: readonly IdentifiedTool[],
  agents: NamedAgents = {},
  problems: Problem[],
): readonly ConfiguredTool[] {
  const entries = new Map(identified.map(({ entry }) => [entry.key, entry]));
  return tools.map((tool) => {
    const name = tool.agent?.agent;
    const entry = entries.get(tool.key);
    if (tool.agent === undefined || name === undefined || entry === undefined) return tool;
    const named = Object.hasOwn(agents, name) ? agents[name] : undefined;
    const path = `${entry.path}.agent`;
    if (named === undefined) {
      const known = Object.keys(agents).filter((one) => one !== defaultAgent);
      const found = `the agent ${JSON.stringify(name)}, which is not under \`agents\``;
      problems.push({ path: `${path}.agent`, found, write: suggestion(name, known) });
      return tool;
    }
    const hasGroups = entry.section.section('agent').has('group');
    if (!hasGroups && named.groups === undefined)
      problems.push({ path: `${path}.group`, found: 'nothing', write: `the groups, here or under agents.${name}` });
    return { ...tool, agent: filled(tool.agent, named, hasGroups) };
  });
}

function filled(own: AgentSettings, named: NamedAgent, hasGroups: boolean): AgentSettings {
  const strategy = own.strategy ?? named.strategy?.byDefault;
  const model = own.model ?? named.models?.[0];
  return {
    ...own,
    groups: hasGroups ? own.groups : (named.groups ?? []),
    instructions: own.instructions ?? named.instructions ?? null,
    ...(strategy === undefined || strategy === 'react' ? {} : { strategy }),
    ...(model === undefined ? {} : { model }),
  };
}
