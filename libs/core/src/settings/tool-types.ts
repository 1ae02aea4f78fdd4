/** The type of entries that run on an MCP server. */
export const mcpToolType = 'mcp-tool';

/** An operation of an OpenAPI document. */
export const openApiToolType = 'openapi-tool';

/** Whether a server of the configuration runs tools of the type. */
export function isServerTool(type: string | null): boolean {
  return type === mcpToolType || type === openApiToolType;
}

/** The type of entries whose calls are runs of their own. */
export const agentToolType = 'agent';

/** The type of the tool that takes plans. */
export const planToolType = 'plan';
