import { type ToolChoice } from '@sluice/core';
import type { EncodeOptions } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import { type Encoded, type Message, type MessagePart, type WireRequest, type WireTool } from '../../types.js';
import { anthropicForm } from '../answer-form.js';
import { Dropped } from '../dropped.js';
import { markedMessages, mayThink } from '../may-think.js';
import { inTurns } from '../request-reader.js';
import { callOut, mediaOut, reasoningOut } from './blocks.js';
import { wire } from './wire.js';

/** Anthropic demands a limit. */
const defaultMaxTokens = 4_096;

export function encodeRequest(
  request: WireRequest,
  isBedrock: boolean,
  { cachePrefix = false, cacheHistory = false, thinkingTokens, answerSchema }: EncodeOptions = {},
): Encoded {
  const dropped = new Dropped();
  const body = writeJson({
    ...(isBedrock ? { anthropic_version: 'bedrock-2023-05-31' } : { model: request.model }),
    max_tokens: request.maxOutputTokens ?? defaultMaxTokens,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    stop_sequences: request.stopSequences.length === 0 ? undefined : request.stopSequences,
    output_config: anthropicForm(answerSchema),
    // What is cached is all up to the mark, the tools included.
    system:
      request.instructions === ''
        ? undefined
        : [
            {
              type: 'text',
              text: request.instructions,
              ...(cachePrefix ? { cache_control: { type: 'ephemeral' } } : {}),
            },
          ],
    thinking:
      thinkingTokens !== undefined && mayThink(request, wire)
        ? { type: 'enabled', budget_tokens: thinkingTokens }
        : undefined,
    messages: messagesOf(request.messages, dropped, cacheHistory && request.tools.length > 0).map(
      (item) => new JsonText(item),
    ),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool, index) => {
            // Without instructions the prefix ends with the tools.
            const isLast = cachePrefix && request.instructions === '' && index === request.tools.length - 1;
            return new JsonText(encodeTool(tool, isLast));
          }),
          tool_choice: request.toolChoice === null ? undefined : choiceOf(request.toolChoice),
        }),
    stream: request.stream && !isBedrock ? true : undefined,
  });
  return { body, dropped: dropped.list() };
}

function choiceOf(choice: ToolChoice): Writable {
  if (choice.type === 'tool') return { type: 'tool', name: choice.id };
  return { type: choice.type === 'required' ? 'any' : choice.type };
}

export function encodeTool({ name, description, inputSchema }: WireTool, isMarked = false): string {
  return writeJson({
    name,
    ...(description === '' ? {} : { description }),
    input_schema: inputSchema as Writable,
    ...(isMarked ? { cache_control: { type: 'ephemeral' } } : {}),
  });
}

export function messagesOf(messages: readonly Message[], dropped: Dropped, isMarked = false): readonly string[] {
  const turns = inTurns(messages);
  const marked = isMarked ? markedMessages(turns) : new Set<number>();
  return turns.flatMap(({ role, parts }, at) => {
    const written: string[] = [];
    let blocks: Writable[] = [];
    const flush = (): void => {
      if (blocks.length > 0) written.push(writeJson({ role, content: blocks }));
      blocks = [];
    };
    for (const part of parts) {
      if (part.type === 'other' && part.wire === wire && part.kind.startsWith('message ')) {
        flush();
        written.push(part.raw);
      } else blocks.push(...blockOf(part, dropped));
    }
    if (marked.has(at)) blocks = blocks.map((block, place) => (place === blocks.length - 1 ? withMark(block) : block));
    flush();
    return written;
  });
}

/** A block that came as JSON text stays as it is. */
function withMark(block: Writable): Writable {
  const isPlain = typeof block === 'object' && block !== null && !(block instanceof JsonText) && !Array.isArray(block);
  return isPlain ? { ...(block as Record<string, Writable>), cache_control: { type: 'ephemeral' } } : block;
}

function blockOf(part: MessagePart, dropped: Dropped): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'call':
      return [callOut(part)];
    case 'result':
      return [
        {
          type: 'tool_result',
          tool_use_id: part.toolCallId,
          content:
            part.media === undefined ? part.text : [{ type: 'text', text: part.text }, ...part.media.map(mediaOut)],
          ...(part.isError ? { is_error: true } : {}),
        },
      ];
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
