import { utf8Length } from '@sluice/core';
import type { Configuration, ModelTool } from '@sluice/core';
import { definitionText } from '@sluice/tokens';

/** Bytes of a tool's definition, about as a model is sent it. */
export function definitionBytes(tool: ModelTool): number {
  return utf8Length(definitionText(tool));
}

/**
 * About what a turn of the agent sends beside its question: its instructions, and the tools of its groups. None to
 * the model of rules.
 */
export function agentPromptBytes(toolId: string, { tools, instructions, model, policy }: Configuration): number {
  const agent = tools.find(({ id }) => id === toolId)?.agent;
  if (policy.budgets.setsAsideAll !== true || model.provider === 'rules' || agent === undefined) return 0;
  const own = tools.filter(({ groups }) => groups.some((group) => agent.groups.includes(group)));
  const definitions = own.map(({ id, description, spec }) =>
    definitionBytes({ id, description, inputSchema: spec?.inputSchema ?? {} }),
  );
  return utf8Length(agent.instructions ?? instructions) + definitions.reduce((sum, bytes) => sum + bytes, 0);
}
