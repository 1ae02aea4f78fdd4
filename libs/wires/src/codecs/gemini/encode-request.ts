import { type ToolChoice } from '@sluice/core';
import type { EncodeOptions } from '../../codec.js';
import { JsonText, writeJson, type Writable } from '../../json/json-text.js';
import type { Encoded, Message, MessagePart, ResultPart, WireRequest, WireTool } from '../../types.js';
import { Dropped } from '../dropped.js';
import { ofResult } from '../media.js';
import { inTurns } from '../request-reader.js';
import { callOut, mediaOut, own } from './parts.js';
import { wire, withoutSignature } from './wire.js';

export function encodeRequest(
  request: WireRequest,
  { seed, thinkingTokens, answerSchema }: EncodeOptions = {},
): Encoded {
  const dropped = new Dropped();
  const limits = {
    maxOutputTokens: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.topP ?? undefined,
    stopSequences: request.stopSequences.length === 0 ? undefined : request.stopSequences,
    seed,
    thinkingConfig: thinkingTokens === undefined ? undefined : { thinkingBudget: thinkingTokens },
    // Models refuse it beside tools.
    ...(answerSchema === undefined || request.tools.length > 0
      ? {}
      : { responseMimeType: 'application/json', responseJsonSchema: answerSchema as Writable }),
  };
  const body = writeJson({
    generationConfig: Object.values(limits).every((value) => value === undefined) ? undefined : limits,
    contents: contentsOf(request.messages, dropped).map((item) => new JsonText(item)),
    systemInstruction: request.instructions === '' ? undefined : { parts: [{ text: request.instructions }] },
    ...(request.tools.length === 0
      ? {}
      : {
          tools: [{ functionDeclarations: request.tools.map((tool) => new JsonText(encodeTool(tool))) }],
          toolConfig: request.toolChoice === null ? undefined : { functionCallingConfig: choiceOf(request.toolChoice) },
        }),
  });
  return { body, dropped: dropped.list() };
}

function choiceOf(choice: ToolChoice): Writable {
  if (choice.type === 'tool') return { mode: 'ANY', allowedFunctionNames: [choice.id] };
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.type] };
}

export function encodeTool({ name, description, inputSchema }: WireTool): string {
  return writeJson({
    name,
    ...(description === '' ? {} : { description }),
    parametersJsonSchema: inputSchema as Writable,
  });
}

export function contentsOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return inTurns(messages).flatMap(({ role, parts }) => {
    const signed = parts.some((part) => 'echo' in part && part.echo?.wire === wire);
    // Of calls in one turn the first alone has a signature; one that came from Gemini goes back as it came.
    const first = signed ? undefined : parts.find(({ type }) => type === 'call');
    const written = [
      ...parts.flatMap((part) => partsOut(part, part === first, dropped)),
      // Behind the results, of which there must be as many as there were calls.
      ...parts.flatMap((part) => (part.type === 'result' ? mediaOfResult(part) : [])),
    ];
    return written.length === 0 ? [] : [writeJson({ role: role === 'user' ? 'user' : 'model', parts: written })];
  });
}

function partsOut(part: MessagePart, lacksSignature: boolean, dropped: Dropped): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...own(part) }];
    case 'call':
      return [{ ...(lacksSignature ? { thoughtSignature: withoutSignature } : {}), ...callOut(part) }];
    case 'result': {
      const response = part.isError ? { error: part.text } : { output: part.text };
      return [{ functionResponse: { id: part.toolCallId, name: part.name ?? 'unknown', response } }];
    }
    case 'media':
      return [mediaOut(part)];
    case 'reasoning':
      if (part.echo?.wire === wire) return [{ text: part.text, thought: true, ...own(part) }];
      dropped.part(part);
      return [];
    case 'other':
      if (part.wire === wire) return [new JsonText(part.raw)];
      dropped.part(part);
      return [];
  }
}

function mediaOfResult(part: ResultPart): readonly Writable[] {
  return part.media === undefined ? [] : [{ text: ofResult(part) }, ...part.media.map(mediaOut)];
}
