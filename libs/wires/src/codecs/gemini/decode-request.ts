import type { Address } from '../../codec.js';
import type { Body } from '../../json/body.js';
import type { JsonSpan } from '../../json/span.js';
import type { DecodedRequest, Message, MessagePart } from '../../types.js';
import { RequestReader, silent } from '../request-reader.js';
import { choiceIn, toolsIn } from './decode-tools.js';
import { argsIn, bothNames, either, wire, withoutSignature } from './wire.js';

const held = bothNames(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']);

const heldLimits = bothNames(['maxOutputTokens', 'temperature', 'topP', 'stopSequences']);

export function decodeRequest(body: Body, address?: Address): DecodedRequest {
  const read = new RequestReader(body);
  const { root } = read;
  read.holds(root, '', held);
  const limits = either(root, 'generationConfig');
  if (limits !== undefined && !limits.isNull)
    read.holds(read.object(limits, 'generationConfig'), 'generationConfig', heldLimits);
  const system = either(root, 'systemInstruction');
  const messages = read.objects(root.member('contents'), 'contents').map((content, index): Message => {
    const at = `contents[${String(index)}]`;
    read.holds(content, at, ['role', 'parts']);
    const role = read.optionalText(content.member('role'), `${at}.role`) === 'model' ? 'assistant' : 'user';
    const parts = read
      .objects(content.member('parts'), `${at}.parts`)
      .map((part, n) => partIn(read, part, `${at}.parts[${String(n)}]`, `call-${String(index)}-${String(n)}`));
    return { role, parts };
  });
  return read.decoded({
    ...silent,
    model: address?.model ?? '',
    instructions: system === undefined ? '' : textsIn(read, system.member('parts'), 'systemInstruction.parts'),
    messages: withResultIds(messages),
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, either(either(root, 'toolConfig'), 'functionCallingConfig')),
    maxOutputTokens: read.number(either(limits, 'maxOutputTokens'), 'generationConfig.maxOutputTokens'),
    temperature: read.number(limits?.member('temperature'), 'generationConfig.temperature'),
    topP: read.number(either(limits, 'topP'), 'generationConfig.topP'),
    stopSequences: read.texts(either(limits, 'stopSequences'), 'generationConfig.stopSequences'),
    stream: address?.stream === true,
  });
}

function partIn(read: RequestReader, part: JsonSpan, at: string, derivedId: string): MessagePart {
  const signature = read.optionalText(either(part, 'thoughtSignature'), `${at}.thoughtSignature`);
  const fields = signature === undefined || signature === withoutSignature ? {} : { thoughtSignature: signature };
  const echo = Object.keys(fields).length === 0 ? {} : { echo: { wire, fields } as const };
  const said = read.optionalText(part.member('text'), `${at}.text`);
  if (said !== undefined) {
    read.holds(part, at, bothNames(['text', 'thought', 'thoughtSignature']));
    const isThought = read.flag(part.member('thought'), `${at}.thought`);
    return isThought
      ? { type: 'reasoning', text: said, echo: { wire, fields } }
      : { type: 'text', text: said, ...echo };
  }
  const call = either(part, 'functionCall');
  if (call !== undefined) {
    read.holds(part, at, bothNames(['functionCall', 'thoughtSignature']));
    read.holds(call, `${at}.functionCall`, ['id', 'name', 'args']);
    return {
      type: 'call',
      toolCallId: read.optionalText(call.member('id'), `${at}.functionCall.id`) ?? derivedId,
      name: read.text(call.member('name'), `${at}.functionCall.name`),
      args: argsIn(call),
      ...echo,
    };
  }
  const result = either(part, 'functionResponse');
  if (result !== undefined) {
    read.holds(part, at, bothNames(['functionResponse']));
    read.holds(result, `${at}.functionResponse`, ['id', 'name', 'response']);
    return {
      type: 'result',
      toolCallId: read.optionalText(result.member('id'), `${at}.functionResponse.id`) ?? '',
      name: read.text(result.member('name'), `${at}.functionResponse.name`),
      ...resultIn(result.member('response')),
    };
  }
  const kind = part.members.find(({ name }) => name !== 'thought' && name !== 'thoughtSignature')?.name ?? 'part';
  return { type: 'other', wire, kind, raw: part.source };
}

/** A response is an object of the caller’s own; a text in the member that Google names for it stands for itself. */
function resultIn(response: JsonSpan | undefined): { readonly text: string; readonly isError: boolean } {
  const [only] = response?.members ?? [];
  const said = response?.members.length === 1 ? only?.value.string : undefined;
  if (said !== undefined && only?.name === 'error') return { text: said, isError: true };
  if (said !== undefined && (only?.name === 'output' || only?.name === 'result' || only?.name === 'content'))
    return { text: said, isError: false };
  return { text: response?.source ?? '', isError: response?.member('error') !== undefined };
}

/** A result without an id answers the first call of its name that has no result yet. */
function withResultIds(messages: readonly Message[]): readonly Message[] {
  const open: { readonly name: string; readonly id: string }[] = [];
  const close = (matches: (call: (typeof open)[number]) => boolean): string | undefined => {
    const at = open.findIndex(matches);
    return at === -1 ? undefined : open.splice(at, 1)[0]?.id;
  };
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part): MessagePart => {
      if (part.type === 'call') open.push({ name: part.name, id: part.toolCallId });
      if (part.type !== 'result') return part;
      if (part.toolCallId === '') return { ...part, toolCallId: close(({ name }) => name === part.name) ?? '' };
      close(({ id }) => id === part.toolCallId);
      return part;
    }),
  }));
}

function textsIn(read: RequestReader, parts: JsonSpan | undefined, at: string): string {
  return read
    .objects(parts, at)
    .flatMap((part, index) => {
      const said = part.member('text')?.string;
      if (said !== undefined) return [said];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}
