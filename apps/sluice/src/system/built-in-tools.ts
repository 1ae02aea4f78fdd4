import { agentToolType } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { Configuration } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { builtInTools } from '@sluice/packs';
import { toolTypes } from '@sluice/tools';

/** A configuration of every built-in tool under its own name, all allowed: to describe them, not to run them. */
export function builtInConfiguration(): Configuration {
  const types = toolTypes(builtInTools);
  const tool = Object.fromEntries(
    types.map(({ type }) => [type, { type, ...(type === agentToolType ? { agent: { group: [] } } : {}) }]),
  );
  const policy = {
    allowed_tools: ['*'],
    allowed_agents: ['*'],
    approval: { none: 'This configuration describes tools and runs none.' },
  };
  const connections = types.flatMap(({ type, requiresConnection }) => (requiresConnection === true ? type : []));
  for (const type of connections) Object.assign(tool[type] ?? {}, { connection: 'any' });
  const { configuration, problems } = compileConfiguration(
    {
      ...{ tool, policy },
      ...(connections.length === 0
        ? {}
        : {
            connections: { any: { adapter: 'environment', variable: 'ANY', tenants: ['*'], hosts: ['any.example'] } },
          }),
    },
    {
      types,
      offers: [],
      digest: sha256,
      files: { read: () => ({ error: 'there is none' }), cedarProblems: () => [] },
    },
  );
  if (configuration === null) throw new Error(`The built-in tools make no configuration:\n${formatProblems(problems)}`);
  return configuration;
}
