import type { BoundTool, Configuration, ConfiguredTool, ToolSource } from '@sluice/core';
import type { ToolContract } from '../contract.js';
import { schemaInput } from './schema-input.js';
import { specOf } from './spec.js';

/**
 * The tools of a configuration with their checks of arguments and nothing that acts, for a dry run. What an MCP
 * server or a file brings is checked by its schema: no server is asked, and no process begins. A tool is there as in
 * createToolSource.
 */
export function checkingTools(
  { tools, policy }: Pick<Configuration, 'tools' | 'policy'>,
  contracts: readonly ToolContract[],
): ToolSource {
  const byType = new Map(contracts.map((contract) => [contract.type, contract]));
  const allowed = new Set(policy.allowedTools);
  const enabled = new Map(tools.filter(({ id, spec }) => allowed.has(id) && spec !== null).map((one) => [one.id, one]));
  const bound = new Map<string, BoundTool>();
  return {
    getBoundTool(toolId) {
      const known = bound.get(toolId);
      const tool = enabled.get(toolId);
      if (known !== undefined || tool === undefined) return known;
      const fresh = checking(tool, byType.get(tool.type));
      bound.set(toolId, fresh);
      return fresh;
    },
    listToolSpecs: () => [...enabled.values()].flatMap((tool) => tool.spec ?? []),
  };
}

function checking(tool: ConfiguredTool, contract: ToolContract | undefined): BoundTool {
  const spec = specOf(tool);
  const isOwn = tool.mcp === null && tool.file === undefined && contract !== undefined;
  return Object.freeze({
    ...{ id: tool.id, spec, effect: spec.effect, capabilities: [], repeatable: tool.repeatable },
    requiresConnection: isOwn ? contract.requiresConnection : tool.connection !== undefined,
    validateInput: isOwn ? contract.parseInput : schemaInput(tool),
    exec: doesNotAct,
    validateOutput: doesNotAct,
    redact: doesNotAct,
  } satisfies BoundTool);
}

function doesNotAct(): never {
  throw new Error('A tool of a dry run checks arguments and does nothing else.');
}
