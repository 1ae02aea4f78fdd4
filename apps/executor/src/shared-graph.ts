import type { Configuration } from '@sluice/core';
import type { Environment } from '@sluice/service';
import type { ToolContract } from '@sluice/tools';

/**
 * What an operator must know of tools that change the knowledge graph on Kafka without an endpoint, as a sentence; null if there is nothing:
 * each executor then has a graph of its own, and what one of them changed the others do not see.
 */
export function unsharedGraph(
  { tools, policy, knowledge }: Configuration,
  contracts: readonly ToolContract[],
  { bus }: Pick<Environment, 'bus'>,
): string | null {
  if (bus !== 'kafka' || knowledge.endpoint !== null) return null;
  const changing = contracts.filter(
    ({ capabilities, effect }) => capabilities.includes('knowledge') && effect !== 'read_only',
  );
  const types = new Set(changing.map(({ type }) => type));
  const ids = tools.filter(({ id, type }) => types.has(type) && policy.allowedTools.includes(id)).map(({ id }) => id);
  if (ids.length === 0) return null;
  return `The policy allows ${ids.join(', ')}, and each executor on Kafka has a knowledge graph of its own. Run one executor, set knowledge.endpoint and knowledge.update_endpoint to a store they share, or take these tools out of policy.allowed_tools.`;
}
