import type { BoundTool, ConfiguredTool } from '@sluice/core';
import { withNulls } from '@sluice/schemas';
import { jsonSchemaInput } from './json-schema-input.js';
import { specOf } from './spec.js';

/** The check of a tool's arguments by the schema that the model is shown. Throws if the tool has no specification. */
export function schemaInput(tool: ConfiguredTool): BoundTool['validateInput'] {
  const { inputSchema } = specOf(tool);
  const nulls = tool.mcp?.nulls;
  return jsonSchemaInput(nulls === undefined ? inputSchema : withNulls(inputSchema, nulls));
}
