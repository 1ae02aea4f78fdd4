import type { DescribedTool } from '@sluice/client';

/** What tools have in common by a name, such as their server. */
export interface ToolsOf {
  readonly name: string;
  readonly tools: readonly DescribedTool[];
}

/** The tools of MCP servers, by server. */
export function byServer(tools: readonly DescribedTool[]): readonly ToolsOf[] {
  return grouped(tools, ({ source, source_name: name }) => (source === 'mcp' ? (name ?? 'no server') : null));
}

/** The tools whose calls use a connection, by connection. */
export function byConnection(tools: readonly DescribedTool[]): readonly ToolsOf[] {
  return grouped(tools, ({ connection }) => connection);
}

function grouped(tools: readonly DescribedTool[], nameOf: (tool: DescribedTool) => string | null): readonly ToolsOf[] {
  const found = Map.groupBy(tools, nameOf);
  return [...found].flatMap(([name, each]) => (name === null ? [] : [{ name, tools: each }]));
}
