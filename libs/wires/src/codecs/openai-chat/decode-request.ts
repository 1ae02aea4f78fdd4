import type { Address } from '../../codec.js';
import type { Body } from '../../json/body.js';
import type { JsonSpan } from '../../json/span.js';
import { type DecodedRequest, type Message, type MessagePart } from '../../types.js';
import { RequestReader, silent } from '../request-reader.js';
import { choiceIn, toolsIn } from './decode-tools.js';
import { reasoningFields, wire } from './wire.js';

const held = [
  ...[
    'model',
    'messages',
    'tools',
    'tool_choice',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'stop',
  ],
  ...['stream', 'stream_options'],
];

export function decodeRequest(body: Body, address?: Address): DecodedRequest {
  const read = new RequestReader(body);
  const { root } = read;
  read.holds(root, '', held);
  const instructions: string[] = [];
  const messages: Message[] = [];
  read.objects(root.member('messages'), 'messages').forEach((message, index) => {
    const at = `messages[${String(index)}]`;
    const role = read.text(message.member('role'), `${at}.role`);
    if ((role === 'system' || role === 'developer') && messages.length === 0) {
      read.holds(message, at, ['role', 'content']);
      instructions.push(textIn(read, message.member('content'), `${at}.content`));
    } else messages.push(messageOf(read, message, role, at));
  });
  return read.decoded({
    ...silent,
    model: read.optionalText(root.member('model'), 'model') ?? address?.model ?? '',
    instructions: instructions.join('\n\n'),
    messages: joinResults(messages),
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, root.member('tool_choice')),
    maxOutputTokens:
      read.number(root.member('max_completion_tokens'), 'max_completion_tokens') ??
      read.number(root.member('max_tokens'), 'max_tokens'),
    temperature: read.number(root.member('temperature'), 'temperature'),
    topP: read.number(root.member('top_p'), 'top_p'),
    stopSequences: root.member('stop')?.isString
      ? [read.text(root.member('stop'), 'stop')]
      : read.texts(root.member('stop'), 'stop'),
    stream: read.flag(root.member('stream'), 'stream'),
  });
}

function messageOf(read: RequestReader, message: JsonSpan, role: string, at: string): Message {
  const content = message.member('content');
  if (role === 'user') {
    read.holds(message, at, ['role', 'content']);
    return { role, parts: contentParts(read, content, `${at}.content`) };
  }
  if (role === 'tool') {
    read.holds(message, at, ['role', 'content', 'tool_call_id']);
    const toolCallId = read.text(message.member('tool_call_id'), `${at}.tool_call_id`);
    const result = textIn(read, content, `${at}.content`);
    return { role: 'user', parts: [{ type: 'result', toolCallId, name: null, text: result, isError: false }] };
  }
  if (role === 'assistant') {
    read.holds(message, at, ['role', 'content', 'tool_calls', ...reasoningFields, 'reasoning_details']);
    return {
      role,
      parts: [
        ...reasoningIn(message),
        ...contentParts(read, content, `${at}.content`),
        ...read
          .objects(message.member('tool_calls'), `${at}.tool_calls`)
          .map((call, n) => callIn(read, call, `${at}.tool_calls[${String(n)}]`)),
      ],
    };
  }
  return { role: 'user', parts: [{ type: 'other', wire, kind: `message ${role}`, raw: message.source }] };
}

function reasoningIn(message: JsonSpan): readonly MessagePart[] {
  const as = reasoningFields.find((name) => message.member(name)?.isString);
  const details = message.member('reasoning_details');
  const hasDetails = details !== undefined && !details.isNull;
  if (as === undefined && !hasDetails) return [];
  const fields = {
    ...(as === undefined ? {} : { as }),
    ...(hasDetails ? { reasoning_details: details.value } : {}),
  };
  return [{ type: 'reasoning', text: (as && message.member(as)?.string) ?? '', echo: { wire, fields } }];
}

function contentParts(read: RequestReader, content: JsonSpan | undefined, at: string): readonly MessagePart[] {
  if (content === undefined || content.isNull) return [];
  if (content.isString) return [{ type: 'text', text: read.text(content, at) }];
  return read.objects(content, at).map((part, index): MessagePart => {
    const type = read.text(part.member('type'), `${at}[${String(index)}].type`);
    if (type !== 'text') return { type: 'other', wire, kind: type, raw: part.source };
    read.holds(part, `${at}[${String(index)}]`, ['type', 'text']);
    return { type: 'text', text: read.text(part.member('text'), `${at}[${String(index)}].text`) };
  });
}

/** Content that is text alone; other parts in it are not held. */
function textIn(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return contentParts(read, content, at)
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}

function callIn(read: RequestReader, call: JsonSpan, at: string): MessagePart {
  const of = call.member('function');
  if (of === undefined) return { type: 'other', wire, kind: 'tool_call', raw: call.source };
  read.holds(call, at, ['id', 'type', 'function', 'index', 'extra_content']);
  read.holds(of, `${at}.function`, ['name', 'arguments']);
  const extra = call.member('extra_content')?.value;
  return {
    type: 'call',
    toolCallId: read.text(call.member('id'), `${at}.id`),
    name: read.text(of.member('name'), `${at}.function.name`),
    args: read.optionalText(of.member('arguments'), `${at}.function.arguments`) ?? '{}',
    ...(extra === undefined || extra === null ? {} : { echo: { wire, fields: { extra_content: extra } } }),
  };
}

/** Results that follow each other are of one turn; the user’s text behind them belongs to the same message. */
function joinResults(messages: readonly Message[]): readonly Message[] {
  const joined: { role: Message['role']; parts: MessagePart[] }[] = [];
  for (const { role, parts } of messages) {
    const last = joined.at(-1);
    if (role === 'user' && last?.role === 'user' && last.parts.every(({ type }) => type === 'result'))
      last.parts.push(...parts);
    else joined.push({ role, parts: [...parts] });
  }
  return joined;
}
