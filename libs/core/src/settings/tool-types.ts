/** The type of entries that run on an MCP server. */
export const mcpToolType = 'mcp-tool';

/** The type of entries whose calls are runs of their own. */
export const agentToolType = 'agent';

/** The type of the tool that takes plans. */
export const planToolType = 'plan';
