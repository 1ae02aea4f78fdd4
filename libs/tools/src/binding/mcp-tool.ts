import { isJsonObject } from '@sluice/core';
import type { BoundTool, ConfiguredTool } from '@sluice/core';
import type { Capabilities } from '../capabilities.js';
import type { McpHub } from '../mcp/hub.js';
import { jsonSchemaInput, jsonSchemaOutput } from './json-schema-input.js';
import { redact } from './redact.js';
import { specOf } from './spec.js';

const capabilities: readonly (keyof Capabilities)[] = Object.freeze(['cancellation', 'idempotency'] as const);

/** One tool of an MCP server, behind the same methods as any other (spec/tool-use.md, invariants 21 and 27). */
export function bindMcpTool(tool: ConfiguredTool, hub: McpHub): BoundTool {
  const spec = specOf(tool);
  const { mcp, timeoutMs } = tool;
  if (mcp === null)
    throw new Error(`The tool ${tool.id} is of type mcp-tool and names no server; bind it in mcp.tools.`);
  return Object.freeze({
    id: tool.id,
    spec,
    effect: spec.effect,
    requiresConnection: false,
    capabilities,
    repeatable: tool.repeatable || spec.effect === 'read_only',
    validateInput: jsonSchemaInput(spec.inputSchema),
    exec: async (args, _context, given) => {
      const { cancellation, idempotency } = given as Partial<Capabilities>;
      if (cancellation === undefined || idempotency === undefined) {
        throw new Error(
          `The tool ${tool.id} was run without the capabilities it declares: ${capabilities.join(', ')}.`,
        );
      }
      return hub.call(mcp.server, mcp.tool, isJsonObject(args) ? args : {}, {
        signal: cancellation.signal,
        idempotencyKey: idempotency.key,
        timeoutMs,
        pin: mcp.pin,
      });
    },
    validateOutput: jsonSchemaOutput(mcp.outputSchema),
    redact: (output) => redact(spec.redaction, output),
  } satisfies BoundTool);
}
