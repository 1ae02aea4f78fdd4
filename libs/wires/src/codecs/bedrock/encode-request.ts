import { type JsonObject, type ToolChoice } from '@sluice/core';
import type { EncodeOptions } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import { type Encoded, type Message, type MessagePart, type WireRequest, type WireTool } from '../../types.js';
import { answerName, isClosed } from '../answer-form.js';
import { Dropped } from '../dropped.js';
import { markedMessages, mayThink } from '../may-think.js';
import { inTurns } from '../request-reader.js';
import { callOut, mediaOut, reasoningOut } from './blocks.js';
import { wire } from './wire.js';

export function encodeRequest(
  request: WireRequest,
  { resultStatus = true, cachePrefix = false, cacheHistory = false, thinkingTokens, answerSchema }: EncodeOptions = {},
): Encoded {
  const dropped = new Dropped();
  // Converse has no word for none: the caller offers no tools then.
  const choice =
    request.toolChoice === null || request.toolChoice.type === 'none' ? undefined : choiceOf(request.toolChoice);
  if (request.toolChoice?.type === 'none') dropped.add('the tool choice `none`');
  const limits = {
    maxTokens: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.topP ?? undefined,
    stopSequences: request.stopSequences.length === 0 ? undefined : request.stopSequences,
  };
  const body = writeJson({
    // What is cached is all up to the point, the tools included; not every model takes one among the tools themselves.
    system:
      request.instructions === ''
        ? undefined
        : [{ text: request.instructions }, ...(cachePrefix ? [{ cachePoint: { type: 'default' } }] : [])],
    messages: messagesOf(request.messages, dropped, {
      hasStatus: resultStatus,
      isMarked: cacheHistory && request.tools.length > 0,
    }).map((item) => new JsonText(item)),
    inferenceConfig: Object.values(limits).every((value) => value === undefined) ? undefined : limits,
    outputConfig: formOf(answerSchema),
    additionalModelRequestFields:
      thinkingTokens !== undefined && mayThink(request, wire)
        ? { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }
        : undefined,
    toolConfig:
      request.tools.length === 0
        ? undefined
        : { tools: request.tools.map((tool) => new JsonText(encodeTool(tool))), toolChoice: choice },
  });
  return { body, dropped: dropped.list() };
}

/** Undefined where the API would refuse the schema. */
function formOf(schema: JsonObject | undefined): Writable | undefined {
  if (schema === undefined || !isClosed(schema)) return undefined;
  const jsonSchema = { name: answerName, schema: JSON.stringify(schema) };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

function choiceOf(choice: ToolChoice): Writable {
  if (choice.type === 'tool') return { tool: { name: choice.id } };
  return choice.type === 'required' ? { any: {} } : { auto: {} };
}

export function encodeTool({ name, description, inputSchema }: WireTool): string {
  const spec = { name, ...(description === '' ? {} : { description }), inputSchema: { json: inputSchema as Writable } };
  return writeJson({ toolSpec: spec });
}

export function messagesOf(
  messages: readonly Message[],
  dropped: Dropped,
  { hasStatus = true, isMarked = false }: { readonly hasStatus?: boolean; readonly isMarked?: boolean } = {},
): readonly string[] {
  const turns = inTurns(messages);
  const marked = isMarked ? markedMessages(turns) : new Set<number>();
  return turns.flatMap(({ role, parts }, at) => {
    const content = parts.flatMap((part) => blockOf(part, dropped, hasStatus));
    if (content.length > 0 && marked.has(at)) content.push({ cachePoint: { type: 'default' } });
    return content.length === 0 ? [] : [writeJson({ role, content })];
  });
}

function blockOf(part: MessagePart, dropped: Dropped, hasStatus: boolean): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }];
    case 'call':
      return [callOut(part)];
    case 'result': {
      if (part.isError && !hasStatus) dropped.add('a result’s error mark');
      const status = part.isError && hasStatus ? { status: 'error' } : {};
      const content = [{ text: part.text }, ...(part.media ?? []).map(mediaOut)];
      return [{ toolResult: { toolUseId: part.toolCallId, content, ...status } }];
    }
    case 'media':
      return [mediaOut(part)];
    case 'reasoning':
      if (part.echo?.wire === wire) return [reasoningOut(part)];
      dropped.part(part);
      return [];
    case 'other':
      if (part.wire === wire) return [new JsonText(part.raw)];
      dropped.part(part);
      return [];
  }
}
