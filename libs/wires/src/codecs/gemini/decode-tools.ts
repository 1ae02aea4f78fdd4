import { isJsonObject, type JsonObject, type JsonValue, type ToolChoice } from '@sluice/core';
import type { ToolLocations } from '../../codec.js';
import type { JsonSpan } from '../../json/span.js';
import type { WireTool } from '../../types.js';
import type { RequestReader } from '../request-reader.js';
import { toolOf } from '../request-reader.js';
import { bothNames, either } from './wire.js';

export function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  return read.objects(root.member('tools'), 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    read.holds(tool, at, bothNames(['functionDeclarations']));
    const declared = `${at}.functionDeclarations`;
    return read.objects(either(tool, 'functionDeclarations'), declared).map((of, n) => {
      const here = `${declared}[${String(n)}]`;
      read.holds(of, here, bothNames(['name', 'description', 'parameters', 'parametersJsonSchema']));
      const schema = either(of, 'parametersJsonSchema');
      return toolOf(
        read.text(of.member('name'), `${here}.name`),
        read.optionalText(of.member('description'), `${here}.description`),
        schema === undefined
          ? asJsonSchema(read.schema(of.member('parameters'), `${here}.parameters`))
          : read.schema(schema, `${here}.parametersJsonSchema`),
      );
    });
  });
}

/** Gemini’s older way of writing a schema: types in capitals, `nullable` beside them. */
function asJsonSchema(schema: JsonObject): JsonObject {
  const { type, nullable, properties, items, anyOf, ...rest } = schema;
  const lower = typeof type === 'string' ? type.toLowerCase() : type;
  return {
    ...(lower === undefined ? {} : { type: nullable === true ? ([lower, 'null'] as JsonValue) : lower }),
    ...rest,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, nested(one)])) }
      : {}),
    ...(items === undefined ? {} : { items: nested(items) }),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(nested) } : {}),
  };
}

function nested(schema: JsonValue): JsonValue {
  return isJsonObject(schema) ? asJsonSchema(schema) : schema;
}

export function choiceIn(read: RequestReader, config: JsonSpan | undefined): ToolChoice | null {
  if (config === undefined || config.isNull) return null;
  const at = 'toolConfig.functionCallingConfig';
  const mode = read.optionalText(config.member('mode'), `${at}.mode`)?.toUpperCase();
  const names = read.texts(either(config, 'allowedFunctionNames'), `${at}.allowedFunctionNames`);
  const [only] = names;
  if (names.length > 1 || (only !== undefined && mode !== 'ANY')) read.beyond(`${at}.allowedFunctionNames`);
  if (mode === 'ANY')
    return only !== undefined && names.length === 1 ? { type: 'tool', id: only } : { type: 'required' };
  if (mode === 'NONE') return { type: 'none' };
  if (mode !== undefined && mode !== 'AUTO' && mode !== 'MODE_UNSPECIFIED') read.beyond(`${at}.mode`);
  return mode === 'AUTO' ? { type: 'auto' } : null;
}

export function toolLocations(root: JsonSpan): ToolLocations {
  const tools = root.member('tools');
  const declarations = (tools?.items ?? []).flatMap((tool) => {
    const span = either(tool, 'functionDeclarations');
    return span?.isArray ? [{ span, tool }] : [];
  });
  return {
    lists: declarations.map(({ span }) => ({
      span,
      names: span.items.map((item) => item.member('name')?.string ?? null),
    })),
    whenEmpty: [{ holder: root, names: ['tools', ...bothNames(['toolConfig'])] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[{"functionDeclarations":[${added.join(',')}]}]`,
  };
}
