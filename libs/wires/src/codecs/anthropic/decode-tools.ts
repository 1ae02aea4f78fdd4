import { type ToolChoice } from '@sluice/core';
import type { ToolLocations } from '../../codec.js';
import type { JsonSpan } from '../../json/span.js';
import { type WireTool } from '../../types.js';
import type { RequestReader } from '../request-reader.js';
import { namesIn, toolOf } from '../request-reader.js';
import { wire } from './wire.js';

export function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  const tools = root.member('tools');
  return read.once(tools, `tools of ${wire}`, () => toolsOf(read, tools));
}

function toolsOf(read: RequestReader, tools: JsonSpan | undefined): readonly WireTool[] {
  return read.objects(tools, 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    if (nameOf(tool) === null) {
      read.beyond(at);
      return [];
    }
    read.holds(tool, at, ['type', 'name', 'description', 'input_schema']);
    return [
      toolOf(
        read.text(tool.member('name'), `${at}.name`),
        read.optionalText(tool.member('description'), `${at}.description`),
        read.schema(tool.member('input_schema'), `${at}.input_schema`),
      ),
    ];
  });
}

/** Null for a tool that Anthropic runs or defines itself. */
function nameOf(tool: JsonSpan): string | null {
  const type = tool.member('type')?.string ?? 'custom';
  return type === 'custom' ? (tool.member('name')?.string ?? null) : null;
}

export function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  read.holds(read.object(choice, 'tool_choice'), 'tool_choice', ['type', 'name']);
  const type = read.text(choice.member('type'), 'tool_choice.type');
  if (type === 'tool') return { type, id: read.text(choice.member('name'), 'tool_choice.name') };
  if (type === 'any') return { type: 'required' };
  if (type === 'auto' || type === 'none') return { type };
  read.beyond('tool_choice');
  return null;
}

export function toolLocations(root: JsonSpan): ToolLocations {
  const tools = root.member('tools');
  return {
    lists: tools?.isArray ? [{ span: tools, names: namesIn(tools, wire, nameOf) }] : [],
    whenEmpty: [{ holder: root, names: ['tools', 'tool_choice'] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[${added.join(',')}]`,
  };
}
