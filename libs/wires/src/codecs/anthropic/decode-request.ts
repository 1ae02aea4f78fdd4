import type { Address } from '../../codec.js';
import type { Body } from '../../json/body.js';
import type { JsonSpan } from '../../json/span.js';
import { type DecodedRequest, type MessagePart } from '../../types.js';
import { RequestReader, silent } from '../request-reader.js';
import { choiceIn, toolsIn } from './decode-tools.js';
import { wire } from './wire.js';

const held = [
  ...['model', 'anthropic_version', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'temperature', 'top_p'],
  ...['stop_sequences', 'stream'],
];

export function decodeRequest(body: Body, address?: Address): DecodedRequest {
  const read = new RequestReader(body);
  const { root } = read;
  read.holds(root, '', held);
  return read.decoded({
    ...silent,
    model: read.optionalText(root.member('model'), 'model') ?? address?.model ?? '',
    instructions: textOf(read, root.member('system'), 'system'),
    messages: read.objects(root.member('messages'), 'messages').map((message, index) => {
      const at = `messages[${String(index)}]`;
      const said = read.text(message.member('role'), `${at}.role`);
      // Instructions in the middle of a conversation, which no user wrote.
      if (said === 'system')
        return { role: 'user', parts: [{ type: 'other', wire, kind: 'message system', raw: message.source }] };
      read.holds(message, at, ['role', 'content']);
      const role = said === 'assistant' ? 'assistant' : 'user';
      return { role, parts: partsIn(read, message.member('content'), `${at}.content`) };
    }),
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, root.member('tool_choice')),
    maxOutputTokens: read.number(root.member('max_tokens'), 'max_tokens'),
    temperature: read.number(root.member('temperature'), 'temperature'),
    topP: read.number(root.member('top_p'), 'top_p'),
    stopSequences: read.texts(root.member('stop_sequences'), 'stop_sequences'),
    stream: read.flag(root.member('stream'), 'stream') || address?.stream === true,
  });
}

function partsIn(read: RequestReader, content: JsonSpan | undefined, at: string): readonly MessagePart[] {
  if (content === undefined || content.isNull) return [];
  if (content.isString) return [{ type: 'text', text: read.text(content, at) }];
  return read.objects(content, at).map((block, index) => partIn(read, block, `${at}[${String(index)}]`));
}

function partIn(read: RequestReader, block: JsonSpan, at: string): MessagePart {
  const type = read.text(block.member('type'), `${at}.type`);
  switch (type) {
    case 'text':
      read.holds(block, at, ['type', 'text']);
      return { type, text: read.text(block.member('text'), `${at}.text`) };
    case 'thinking': {
      read.holds(block, at, ['type', 'thinking', 'signature']);
      const signature = read.optionalText(block.member('signature'), `${at}.signature`) ?? '';
      const thought = read.text(block.member('thinking'), `${at}.thinking`);
      return { type: 'reasoning', text: thought, echo: { wire, fields: { signature } } };
    }
    case 'redacted_thinking':
      read.holds(block, at, ['type', 'data']);
      return {
        type: 'reasoning',
        text: '',
        echo: { wire, fields: { data: read.text(block.member('data'), `${at}.data`) } },
      };
    case 'tool_use':
      read.holds(block, at, ['type', 'id', 'name', 'input']);
      return {
        type: 'call',
        toolCallId: read.text(block.member('id'), `${at}.id`),
        name: read.text(block.member('name'), `${at}.name`),
        args: block.member('input')?.source ?? '{}',
      };
    case 'tool_result':
      read.holds(block, at, ['type', 'tool_use_id', 'content', 'is_error']);
      return {
        type: 'result',
        toolCallId: read.text(block.member('tool_use_id'), `${at}.tool_use_id`),
        name: null,
        text: textOf(read, block.member('content'), `${at}.content`),
        isError: read.flag(block.member('is_error'), `${at}.is_error`),
      };
    default:
      return { type: 'other', wire, kind: type, raw: block.source };
  }
}

/** The texts of content; other blocks in it are not held. */
function textOf(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return partsIn(read, content, at)
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}
