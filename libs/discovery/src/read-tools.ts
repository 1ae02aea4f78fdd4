import { isJsonObject } from '@sluice/core';
import type { OfferedTool } from './tool.js';

/**
 * The tools of a file: a list of them, or an object that holds one under `tools`. Each may be as Chat Completions,
 * Responses, Messages, generateContent, Converse or an MCP server write a tool. Throws an error that names the place
 * where something is none.
 */
export function readTools(value: unknown): readonly OfferedTool[] {
  const list = isJsonObject(value) ? (value['tools'] ?? [value]) : value;
  if (!Array.isArray(list)) throw new Error('It is neither a list of tools nor an object with a list under "tools".');
  return (list as unknown[]).flatMap((item, at) => readTool(item, `tools[${at}]`));
}

function readTool(item: unknown, place: string): readonly OfferedTool[] {
  if (!isJsonObject(item)) throw new Error(`${place} is no object.`);
  const declarations = item['functionDeclarations'] ?? item['function_declarations'];
  if (Array.isArray(declarations))
    return (declarations as unknown[]).flatMap((one, at) => readTool(one, `${place}.functionDeclarations[${at}]`));
  const tool = [item['function'], item['toolSpec']].find(isJsonObject) ?? item;
  const { name, description } = tool;
  if (typeof name !== 'string' || name === '') throw new Error(`${place} has no name.`);
  const schema =
    tool['parameters'] ?? tool['parametersJsonSchema'] ?? tool['input_schema'] ?? tool['inputSchema'] ?? null;
  const parameters = isJsonObject(schema) && isJsonObject(schema['json']) ? schema['json'] : schema;
  return [{ name, description: typeof description === 'string' ? description : '', parameters }];
}
