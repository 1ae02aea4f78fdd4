import { describe, expect, it } from '@jest/globals';
import type { ConfiguredTool, JsonValue } from '@sluice/core';
import type { McpHub } from '@sluice/hub';
import { bindMcpTool } from '../src/mcp-tool.js';

describe('null for an argument that the server lets be null', () => {
  const inputSchema = { type: 'object', properties: { limit: { type: 'integer' }, name: { type: 'string' } } };
  const bound = (nulls?: readonly string[]) =>
    bindMcpTool(
      {
        ...{ id: 'find', key: 'find', timeoutMs: 1_000, repeatable: false },
        spec: { name: 'find', description: 'Finds.', inputSchema, effect: 'read_only', redaction: { whole: true } },
        mcp: { server: 's', tool: 'find', served: 'find', pin: null, outputSchema: null, ...(nulls && { nulls }) },
      } as unknown as ConfiguredTool,
      {} as McpHub,
    );

  it('is taken and stays in the arguments; for any other one it is refused', async () => {
    const args: JsonValue = { limit: null };
    expect(await bound(['/properties/limit']).validateInput(args)).toBe(args);
    await expect(async () => bound(['/properties/limit']).validateInput({ name: null })).rejects.toThrow('/name');
    await expect(async () => bound().validateInput(args)).rejects.toThrow('/limit');
  });
});
