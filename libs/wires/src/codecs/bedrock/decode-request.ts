import { type JsonObject } from '@sluice/core';
import type { Address } from '../../codec.js';
import type { Body } from '../../json/body.js';
import type { JsonSpan } from '../../json/span.js';
import { type DecodedRequest, type MessagePart } from '../../types.js';
import { RequestReader, silent } from '../request-reader.js';
import { choiceIn, toolsIn } from './decode-tools.js';
import { wire } from './wire.js';

const held = ['messages', 'system', 'inferenceConfig', 'toolConfig'];

export function decodeRequest(body: Body, address?: Address): DecodedRequest {
  const read = new RequestReader(body);
  const { root } = read;
  read.holds(root, '', held);
  const limits = root.member('inferenceConfig');
  if (limits !== undefined && !limits.isNull)
    read.holds(read.object(limits, 'inferenceConfig'), 'inferenceConfig', [
      ...['maxTokens', 'temperature', 'topP', 'stopSequences'],
    ]);
  return read.decoded({
    ...silent,
    model: address?.model ?? '',
    instructions: textOf(read, root.member('system'), 'system'),
    messages: read.objects(root.member('messages'), 'messages').map((message, index) => {
      const at = `messages[${String(index)}]`;
      read.holds(message, at, ['role', 'content']);
      const role = read.text(message.member('role'), `${at}.role`) === 'assistant' ? 'assistant' : 'user';
      return { role, parts: partsIn(read, message.member('content'), `${at}.content`) };
    }),
    tools: toolsIn(read, root.member('toolConfig')),
    toolChoice: choiceIn(read, root.member('toolConfig')?.member('toolChoice')),
    maxOutputTokens: read.number(limits?.member('maxTokens'), 'inferenceConfig.maxTokens'),
    temperature: read.number(limits?.member('temperature'), 'inferenceConfig.temperature'),
    topP: read.number(limits?.member('topP'), 'inferenceConfig.topP'),
    stopSequences: read.texts(limits?.member('stopSequences'), 'inferenceConfig.stopSequences'),
    stream: address?.stream === true,
  });
}

function partsIn(read: RequestReader, content: JsonSpan | undefined, at: string): readonly MessagePart[] {
  return read.objects(content, at).map((block, index) => partIn(read, block, `${at}[${String(index)}]`));
}

function partIn(read: RequestReader, block: JsonSpan, at: string): MessagePart {
  const [member] = block.members;
  const kind = block.members.length === 1 && member !== undefined ? member.name : '';
  const of = member?.value;
  const unread: MessagePart = { type: 'other', wire, kind: kind === '' ? 'block' : kind, raw: block.source };
  if (of === undefined) return unread;
  switch (kind) {
    case 'text':
      return { type: 'text', text: read.text(of, `${at}.text`) };
    case 'toolUse':
      read.holds(of, `${at}.toolUse`, ['toolUseId', 'name', 'input']);
      return {
        type: 'call',
        toolCallId: read.text(of.member('toolUseId'), `${at}.toolUse.toolUseId`),
        name: read.text(of.member('name'), `${at}.toolUse.name`),
        args: of.member('input')?.source ?? '{}',
      };
    case 'toolResult':
      read.holds(of, `${at}.toolResult`, ['toolUseId', 'content', 'status']);
      return {
        type: 'result',
        toolCallId: read.text(of.member('toolUseId'), `${at}.toolResult.toolUseId`),
        name: null,
        text: textOf(read, of.member('content'), `${at}.toolResult.content`),
        isError: read.optionalText(of.member('status'), `${at}.toolResult.status`) === 'error',
      };
    case 'reasoningContent': {
      const redacted = of.member('redactedContent')?.string;
      if (redacted !== undefined)
        return { type: 'reasoning', text: '', echo: { wire, fields: { redactedContent: redacted } } };
      const thought = of.member('reasoningText');
      if (thought === undefined) return unread;
      const signature = thought.member('signature')?.string;
      const fields: JsonObject = signature === undefined ? {} : { signature };
      const said = read.text(thought.member('text'), `${at}.reasoningContent.reasoningText.text`);
      return { type: 'reasoning', text: said, echo: { wire, fields } };
    }
    default:
      return unread;
  }
}

/** The texts of content, and its JSON as text; other blocks in it are not held. */
function textOf(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return read
    .objects(content, at)
    .flatMap((block, index) => {
      const json = block.member('json');
      if (json !== undefined) return [json.source];
      const said = read.optionalText(block.member('text'), `${at}[${String(index)}].text`);
      if (said !== undefined) return [said];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}
