import { type ToolChoice } from '@sluice/core';
import type { EncodeOptions } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import type { Encoded, MediaPart, Message, MessagePart, WireRequest, WireTool } from '../../types.js';
import { namedForm } from '../answer-form.js';
import { Dropped, echoed } from '../dropped.js';
import { dataUrl, isPdf, ofResult } from '../media.js';
import { asContent, wire } from './wire.js';

export function encodeRequest(
  request: WireRequest,
  { chatLimit = 'max_tokens', seed, reasoningEffort, answerSchema }: EncodeOptions = {},
): Encoded {
  const dropped = new Dropped();
  const system = request.instructions === '' ? [] : [writeJson({ role: 'system', content: request.instructions })];
  const body = writeJson({
    model: request.model,
    [chatLimit]: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    stop: request.stopSequences.length === 0 ? undefined : request.stopSequences,
    seed,
    reasoning_effort: reasoningEffort,
    response_format:
      answerSchema === undefined ? undefined : { type: 'json_schema', json_schema: namedForm(answerSchema) },
    messages: [...system, ...messagesOf(request.messages, dropped)].map((item) => new JsonText(item)),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => new JsonText(encodeTool(tool))),
          tool_choice: request.toolChoice === null ? undefined : choiceOf(request.toolChoice),
        }),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
  return { body, dropped: dropped.list() };
}

function choiceOf(choice: ToolChoice): Writable {
  return choice.type === 'tool' ? { type: 'function', function: { name: choice.id } } : choice.type;
}

export function encodeTool({ name, description, inputSchema }: WireTool): string {
  const of = { name, ...(description === '' ? {} : { description }), parameters: inputSchema as Writable };
  return writeJson({ type: 'function', function: of });
}

export function messagesOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'user' ? userMessages(parts, dropped) : spoken(parts, dropped),
  );
}

/**
 * Results are messages of their own, and stand before what the user says. They are text alone, so that their images and
 * files follow as the user’s.
 */
function userMessages(parts: readonly MessagePart[], dropped: Dropped): readonly string[] {
  const results: string[] = [];
  const wholes: string[] = [];
  const media: Writable[] = [];
  const said: Writable[] = [];
  for (const part of parts) {
    if (part.type === 'result') {
      if (part.isError) dropped.add('a result’s error mark');
      results.push(writeJson({ role: 'tool', tool_call_id: part.toolCallId, content: part.text }));
      if (part.media !== undefined) media.push({ type: 'text', text: ofResult(part) }, ...part.media.map(mediaOut));
    } else if (part.type === 'media') said.push(mediaOut(part));
    else if (part.type === 'text') said.push({ type: 'text', text: part.text });
    else if (part.type === 'other' && part.wire === wire) {
      if (part.kind.startsWith('message ')) wholes.push(part.raw);
      else said.push(new JsonText(part.raw));
    } else if (part.type === 'other' || part.type === 'reasoning') dropped.part(part);
  }
  const all = [...media, ...said];
  const user = all.length === 0 ? [] : [writeJson({ role: 'user', content: contentOf(all) })];
  return [...results, ...user, ...wholes];
}

function mediaOut(part: MediaPart): Writable {
  if (!isPdf(part)) return { type: 'image_url', image_url: { url: dataUrl(part) } };
  return { type: 'file', file: { filename: part.name, file_data: dataUrl(part) } };
}

function contentOf(said: readonly Writable[]): Writable {
  const [only] = said;
  const isText =
    said.length === 1 && typeof only === 'object' && only !== null && 'text' in only && !(only instanceof JsonText);
  return isText ? (only as { readonly text: string }).text : said;
}

function spoken(parts: readonly MessagePart[], dropped: Dropped): readonly string[] {
  const said: Writable[] = [];
  const calls: Writable[] = [];
  let beside: Record<string, Writable> = {};
  for (const part of parts) {
    if (part.type === 'text') said.push({ type: 'text', text: part.text });
    else if (part.type === 'call')
      calls.push({
        id: part.toolCallId,
        type: 'function',
        function: { name: part.name, arguments: part.args },
        ...(echoed(part, wire) as Record<string, Writable>),
      });
    else if (part.type === 'reasoning' && part.echo?.wire === wire) {
      const { as, ...rest } = part.echo.fields;
      if (as === asContent) said.push({ type: 'thinking', thinking: [{ type: 'text', text: part.text }] });
      beside = {
        ...beside,
        ...(typeof as === 'string' && as !== asContent ? { [as]: part.text } : {}),
        ...(rest as Record<string, Writable>),
      };
    } else if (part.type === 'other' && part.wire === wire) said.push(new JsonText(part.raw));
    else if (part.type !== 'result' && part.type !== 'media') dropped.part(part);
  }
  if (said.length === 0 && calls.length === 0 && Object.keys(beside).length === 0) return [];
  const content = said.length === 0 ? null : contentOf(said);
  return [writeJson({ role: 'assistant', content, ...beside, ...(calls.length === 0 ? {} : { tool_calls: calls }) })];
}
