import { type JsonObject, type JsonValue } from '@sluice/core';
import type { Address } from '../../codec.js';
import type { Body } from '../../json/body.js';
import type { JsonSpan } from '../../json/span.js';
import type { DecodedRequest, Message, MessagePart } from '../../types.js';
import { RequestReader, silent } from '../request-reader.js';
import { choiceIn, toolsIn } from './decode-tools.js';
import { wire } from './wire.js';

const held = [
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'max_output_tokens', 'temperature', 'top_p', 'stream'],
  // What this library writes itself in every request.
  ...['store', 'include'],
];

export function decodeRequest(body: Body, address?: Address): DecodedRequest {
  const read = new RequestReader(body);
  const { root } = read;
  read.holds(root, '', held);
  const input = root.member('input');
  const messages: Message[] = input?.isString
    ? [{ role: 'user', parts: [{ type: 'text', text: read.text(input, 'input') }] }]
    : joined(read.objects(input, 'input').map((item, index) => itemIn(read, item, `input[${String(index)}]`)));
  return read.decoded({
    ...silent,
    model: read.optionalText(root.member('model'), 'model') ?? address?.model ?? '',
    instructions: read.optionalText(root.member('instructions'), 'instructions') ?? '',
    messages,
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, root.member('tool_choice')),
    maxOutputTokens: read.number(root.member('max_output_tokens'), 'max_output_tokens'),
    temperature: read.number(root.member('temperature'), 'temperature'),
    topP: read.number(root.member('top_p'), 'top_p'),
    stream: read.flag(root.member('stream'), 'stream'),
  });
}

function itemIn(read: RequestReader, item: JsonSpan, at: string): Message {
  const type = read.optionalText(item.member('type'), `${at}.type`) ?? 'message';
  switch (type) {
    case 'message':
      return messageIn(read, item, at);
    case 'function_call': {
      read.holds(item, at, ['type', 'id', 'call_id', 'name', 'arguments', 'status']);
      const part: MessagePart = {
        type: 'call',
        toolCallId: read.text(item.member('call_id'), `${at}.call_id`),
        name: read.text(item.member('name'), `${at}.name`),
        args: read.optionalText(item.member('arguments'), `${at}.arguments`) ?? '{}',
        ...echoOf(item, ['id']),
      };
      return { role: 'assistant', parts: [part] };
    }
    case 'function_call_output': {
      read.holds(item, at, ['type', 'id', 'call_id', 'output', 'status']);
      const toolCallId = read.text(item.member('call_id'), `${at}.call_id`);
      const result = textOf(read, item.member('output'), `${at}.output`);
      return { role: 'user', parts: [{ type: 'result', toolCallId, name: null, text: result, isError: false }] };
    }
    case 'reasoning': {
      read.holds(item, at, ['type', 'id', 'summary', 'encrypted_content', 'status']);
      const summary = textOf(read, item.member('summary'), `${at}.summary`);
      const echo = echoOf(item, ['id', 'encrypted_content']).echo ?? { wire, fields: {} };
      return { role: 'assistant', parts: [{ type: 'reasoning', text: summary, echo }] };
    }
    default:
      // What the provider ran itself stands among what the model said.
      return {
        role: type.endsWith('_output') ? 'user' : 'assistant',
        parts: [{ type: 'other', wire, kind: type, raw: item.source }],
      };
  }
}

function messageIn(read: RequestReader, item: JsonSpan, at: string): Message {
  const role = read.text(item.member('role'), `${at}.role`);
  if (role !== 'user' && role !== 'assistant')
    return { role: 'user', parts: [{ type: 'other', wire, kind: `message ${role}`, raw: item.source }] };
  read.holds(item, at, ['type', 'role', 'content', 'id', 'status', 'phase']);
  return { role, parts: contentIn(read, item.member('content'), `${at}.content`, echoOf(item, ['id', 'phase'])) };
}

function echoOf(
  item: JsonSpan,
  names: readonly string[],
): { readonly echo?: { wire: typeof wire; fields: JsonObject } } {
  const fields: Record<string, JsonValue> = {};
  for (const name of names) {
    const value = item.member(name)?.string;
    if (value !== undefined) fields[name] = value;
  }
  return Object.keys(fields).length === 0 ? {} : { echo: { wire, fields } };
}

const textTypes = ['input_text', 'output_text', 'summary_text', 'reasoning_text', 'text'];

function contentIn(
  read: RequestReader,
  content: JsonSpan | undefined,
  at: string,
  echo: object,
): readonly MessagePart[] {
  if (content === undefined || content.isNull) return [];
  if (content.isString) return [{ type: 'text', text: read.text(content, at), ...echo }];
  return read.objects(content, at).map((part, index): MessagePart => {
    const here = `${at}[${String(index)}]`;
    const type = read.text(part.member('type'), `${here}.type`);
    if (!textTypes.includes(type)) return { type: 'other', wire, kind: `content ${type}`, raw: part.source };
    read.holds(part, here, ['type', 'text', 'annotations', 'logprobs']);
    return { type: 'text', text: read.text(part.member('text'), `${here}.text`), ...echo };
  });
}

function textOf(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return contentIn(read, content, at, {})
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}

/** Items of one side that follow each other are one message. */
function joined(messages: readonly Message[]): Message[] {
  const turns: { role: Message['role']; parts: MessagePart[] }[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    const isMore = last?.role === role && (role === 'assistant' || last.parts.every(({ type }) => type === 'result'));
    if (isMore) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}
