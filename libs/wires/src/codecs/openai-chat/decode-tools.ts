import { type ToolChoice } from '@sluice/core';
import type { ToolLocations } from '../../codec.js';
import type { JsonSpan } from '../../json/span.js';
import { type WireTool } from '../../types.js';
import type { RequestReader } from '../request-reader.js';
import { namesIn, RequestFault, toolOf } from '../request-reader.js';
import { wire } from './wire.js';

export function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  const tools = root.member('tools');
  return read.once(tools, `tools of ${wire}`, () => toolsOf(read, tools));
}

function toolsOf(read: RequestReader, tools: JsonSpan | undefined): readonly WireTool[] {
  return read.objects(tools, 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    const of = tool.member('function');
    if (of === undefined) {
      read.beyond(at);
      return [];
    }
    read.holds(tool, at, ['type', 'function']);
    read.holds(of, `${at}.function`, ['name', 'description', 'parameters']);
    return [
      toolOf(
        read.text(of.member('name'), `${at}.function.name`),
        read.optionalText(of.member('description'), `${at}.function.description`),
        read.schema(of.member('parameters'), `${at}.function.parameters`),
      ),
    ];
  });
}

export function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  if (choice.isString) {
    const word = read.text(choice, 'tool_choice');
    if (word === 'auto' || word === 'none' || word === 'required') return { type: word };
    throw new RequestFault('`tool_choice` must be `auto`, `none`, `required` or an object.');
  }
  const name = choice.member('function')?.member('name')?.string;
  if (name !== undefined) return { type: 'tool', id: name };
  read.beyond('tool_choice');
  return null;
}

function nameOf(tool: JsonSpan): string | null {
  return tool.member('function')?.member('name')?.string ?? null;
}

export function toolLocations(root: JsonSpan): ToolLocations {
  const tools = root.member('tools');
  return {
    lists: tools?.isArray ? [{ span: tools, names: namesIn(tools, wire, nameOf) }] : [],
    whenEmpty: [{ holder: root, names: ['tools', 'tool_choice', 'parallel_tool_calls'] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[${added.join(',')}]`,
  };
}
