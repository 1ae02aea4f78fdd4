import type { ConfiguredTool, ToolSpec } from '@sluice/core';

/** A configured tool's specification; throws if there is none, with the configuration's own reason. */
export function specOf(tool: ConfiguredTool): ToolSpec {
  if (tool.spec === null)
    throw new Error(`The tool ${tool.id} cannot be bound: ${tool.unavailable ?? 'its arguments are unknown'}.`);
  return tool.spec;
}
