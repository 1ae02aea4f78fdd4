import { type ToolChoice } from '@sluice/core';
import type { EncodeOptions } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import type { Encoded, MediaPart, Message, ResultPart, TurnPart, WireRequest, WireTool } from '../../types.js';
import { namedForm } from '../answer-form.js';
import { Dropped, echoed } from '../dropped.js';
import { dataUrl, isPdf } from '../media.js';
import { wire } from './wire.js';

export function encodeRequest(request: WireRequest, { reasoningEffort, answerSchema }: EncodeOptions = {}): Encoded {
  const dropped = new Dropped();
  if (request.stopSequences.length > 0) dropped.add('stop sequences');
  const body = writeJson({
    model: request.model,
    instructions: request.instructions === '' ? undefined : request.instructions,
    max_output_tokens: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    reasoning: reasoningEffort === undefined ? undefined : { effort: reasoningEffort },
    text: answerSchema === undefined ? undefined : { format: { type: 'json_schema', ...namedForm(answerSchema) } },
    input: itemsOf(withoutUnkept(request.messages, dropped), dropped).map((item) => new JsonText(item)),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => new JsonText(encodeTool(tool))),
          tool_choice: request.toolChoice === null ? undefined : choiceOf(request.toolChoice),
        }),
    // Nothing is kept at the provider, so what it thought comes back with the request that needs it again.
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: request.stream ? true : undefined,
  });
  return { body, dropped: dropped.list() };
}

/** Since nothing is kept at OpenAI, an id alone names nothing there. */
function withoutUnkept(messages: readonly Message[], dropped: Dropped): readonly Message[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.filter((part) => {
      const isIdAlone =
        part.type === 'reasoning' && part.echo?.wire === wire && part.echo.fields['encrypted_content'] === undefined;
      if (isIdAlone) dropped.part(part);
      return !isIdAlone;
    }),
  }));
}

function choiceOf(choice: ToolChoice): Writable {
  return choice.type === 'tool' ? { type: 'function', name: choice.id } : choice.type;
}

export function encodeTool({ name, description, inputSchema }: WireTool): string {
  return writeJson({
    type: 'function',
    name,
    ...(description === '' ? {} : { description }),
    parameters: inputSchema as Writable,
    strict: false,
  });
}

export function itemsOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return messages.flatMap(({ role, parts }) => {
    const items: string[] = [];
    let content: Writable[] = [];
    let beside: Record<string, Writable> = {};
    const flush = (): void => {
      if (content.length > 0) items.push(writeJson({ type: 'message', role, content, ...beside }));
      [content, beside] = [[], {}];
    };
    for (const part of parts) {
      if (part.type === 'media') {
        content.push(mediaOut(part));
        continue;
      }
      const own =
        part.type === 'result' || part.type === 'other' ? {} : (echoed(part, wire) as Record<string, Writable>);
      if (part.type === 'text') {
        if (own['id'] !== undefined && own['id'] !== beside['id']) flush();
        beside = { ...beside, ...own };
        content.push(role === 'user' ? { type: 'input_text', text: part.text } : outputText(part.text));
        continue;
      }
      if (part.type === 'other' && part.wire === wire && part.kind.startsWith('content ')) {
        content.push(new JsonText(part.raw));
        continue;
      }
      flush();
      if (part.type === 'call') items.push(writeJson(callItem(part)));
      else if (part.type === 'result') {
        if (part.isError) dropped.add('a result’s error mark');
        items.push(writeJson({ type: 'function_call_output', call_id: part.toolCallId, output: outputOf(part) }));
      } else if (part.type === 'reasoning' && part.echo?.wire === wire) items.push(writeJson(reasoningItem(part)));
      else if (part.type === 'other' && part.wire === wire) items.push(part.raw);
      else dropped.part(part);
    }
    flush();
    return items;
  });
}

function outputOf({ text, media }: ResultPart): Writable {
  return media === undefined ? text : [{ type: 'input_text', text }, ...media.map(mediaOut)];
}

function mediaOut(part: MediaPart): Writable {
  if (!isPdf(part)) return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' };
  return { type: 'input_file', filename: part.name, file_data: dataUrl(part) };
}

export const outputText = (said: string) => ({ type: 'output_text', text: said, annotations: [] });

export function callItem(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  return {
    type: 'function_call',
    call_id: part.toolCallId,
    name: part.name,
    arguments: part.args,
    ...(echoed(part, wire) as Record<string, Writable>),
  };
}

export function reasoningItem(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
  return { type: 'reasoning', summary, ...(echoed(part, wire) as Record<string, Writable>) };
}
