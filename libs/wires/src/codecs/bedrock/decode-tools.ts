import { type ToolChoice } from '@sluice/core';
import type { ToolLocations } from '../../codec.js';
import type { JsonSpan } from '../../json/span.js';
import { type WireTool } from '../../types.js';
import type { RequestReader } from '../request-reader.js';
import { toolOf } from '../request-reader.js';

export function toolsIn(read: RequestReader, config: JsonSpan | undefined): readonly WireTool[] {
  if (config === undefined || config.isNull) return [];
  read.holds(read.object(config, 'toolConfig'), 'toolConfig', ['tools', 'toolChoice']);
  return read.objects(config.member('tools'), 'toolConfig.tools').flatMap((tool, index) => {
    const at = `toolConfig.tools[${String(index)}]`;
    const spec = tool.member('toolSpec');
    if (spec === undefined) {
      read.beyond(at);
      return [];
    }
    read.holds(spec, `${at}.toolSpec`, ['name', 'description', 'inputSchema']);
    return [
      toolOf(
        read.text(spec.member('name'), `${at}.toolSpec.name`),
        read.optionalText(spec.member('description'), `${at}.toolSpec.description`),
        read.schema(spec.member('inputSchema')?.member('json'), `${at}.toolSpec.inputSchema.json`),
      ),
    ];
  });
}

export function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  const name = choice.member('tool')?.member('name')?.string;
  if (name !== undefined) return { type: 'tool', id: name };
  if (choice.member('any') !== undefined) return { type: 'required' };
  if (choice.member('auto') !== undefined) return { type: 'auto' };
  read.beyond('toolConfig.toolChoice');
  return null;
}

export function toolLocations(root: JsonSpan): ToolLocations {
  const config = root.member('toolConfig');
  const tools = config?.member('tools');
  const names = tools?.items.map((tool) => tool.member('toolSpec')?.member('name')?.string ?? null) ?? [];
  const isThere = config?.isObject === true;
  return {
    lists: tools?.isArray ? [{ span: tools, names }] : [],
    whenEmpty: [{ holder: root, names: ['toolConfig'] }],
    holder: isThere ? config : root,
    name: isThere ? 'tools' : 'toolConfig',
    wrap: (added) => (isThere ? `[${added.join(',')}]` : `{"tools":[${added.join(',')}]}`),
  };
}
