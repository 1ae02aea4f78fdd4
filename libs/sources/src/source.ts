import type { BoundTool, Configuration, ConfiguredTool, ToolSource } from '@sluice/core';
import { bindMcpTool } from './mcp-tool.js';
import { bindTool } from '@sluice/tools';
import type { ToolContract } from '@sluice/tools';
import type { McpHub } from '@sluice/hub';

interface ToolSourceParts {
  readonly contracts: readonly ToolContract[];
  readonly mcp: McpHub;
}

/**
 * The tools of one configuration (G-04, G-167). Only what the policy allows and what has a specification is there;
 * everything else is unknown. A tool is bound when it is first asked for. Throws, naming the tool, if two share an id
 * or an allowed tool is of a type without an implementation.
 */
export function createToolSource(configuration: Configuration, given: ToolSourceParts): ToolSource {
  const contracts = new Map(given.contracts.map((contract) => [contract.type, contract]));
  const allowed = new Set(configuration.policy.allowedTools);
  const enabled = new Map<string, ConfiguredTool>();
  const ids = new Set<string>();
  for (const tool of configuration.tools) {
    if (ids.has(tool.id)) throw new Error(`Two configured tools have the id ${tool.id}. Rename one of them.`);
    ids.add(tool.id);
    if (!allowed.has(tool.id) || tool.spec === null) continue;
    // A file that is gone or changed has been reported; its tools are unavailable, and the others are not touched.
    if (tool.file !== undefined && !contracts.has(tool.type)) continue;
    if (tool.mcp === null && !contracts.has(tool.type)) {
      throw new Error(
        `The tool ${tool.id} is of the type "${tool.type}", which this service does not implement. It knows ${[...contracts.keys()].join(', ')}.`,
      );
    }
    enabled.set(tool.id, tool);
  }

  const bound = new Map<string, BoundTool>();
  const bind = (tool: ConfiguredTool): BoundTool => {
    if (tool.mcp !== null) return bindMcpTool(tool, given.mcp);
    return bindTool(contracts.get(tool.type) as ToolContract, tool);
  };
  return {
    getBoundTool(toolId) {
      const known = bound.get(toolId);
      const tool = enabled.get(toolId);
      if (known !== undefined || tool === undefined) return known;
      const fresh = bind(tool);
      bound.set(toolId, fresh);
      return fresh;
    },
    listToolSpecs: () => [...enabled.values()].flatMap((tool) => tool.spec ?? []),
  };
}
