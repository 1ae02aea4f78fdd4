import { isJsonObject, type JsonObject, type JsonValue, type ToolChoice } from '@sluice/core';
import type { Address, Codec, StreamEncoder, ToolPlaces, TurnHead } from '../codec.js';
import { faults } from '../diagnosis.js';
import { JsonText, writeJson, type Writable } from '../json/json-text.js';
import { countUnknown, object, objects, text, tokens } from '../json/read.js';
import { JsonSpan } from '../json/span.js';
import type { Append, Assembler } from '../stream/decoder.js';
import { sseFrame } from '../stream/frames.js';
import { TurnBuilder, type Slot } from '../turn-builder.js';
import type {
  DecodedRequest,
  DecodedTurn,
  Encoded,
  Finish,
  Message,
  MessagePart,
  Turn,
  TurnPart,
  Usage,
  WireRequest,
  WireTool,
} from '../types.js';
import { argumentsAsObject } from './anthropic.js';
import { Dropped, echoed } from './dropped.js';
import { inTurns, RequestReader, silent, toolOf } from './request-reader.js';

const wire = 'gemini';

/** Gemini 3 refuses a call without its signature; this word stands for one that another model, or an older record, made. */
const withoutSignature = 'skip_thought_signature_validator';

// ---- A request.

function encodeRequest(request: WireRequest): Encoded {
  const dropped = new Dropped();
  const limits = {
    maxOutputTokens: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.topP ?? undefined,
    stopSequences: request.stopSequences.length === 0 ? undefined : request.stopSequences,
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

function encodeTool({ name, description, inputSchema }: WireTool): string {
  return writeJson({
    name,
    ...(description === '' ? {} : { description }),
    parametersJsonSchema: inputSchema as Writable,
  });
}

function contentsOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return inTurns(messages).flatMap(({ role, parts }) => {
    const written = parts.flatMap((part) => partsOut(part, dropped));
    return written.length === 0 ? [] : [writeJson({ role: role === 'user' ? 'user' : 'model', parts: written })];
  });
}

function partsOut(part: MessagePart, dropped: Dropped): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...own(part) }];
    case 'call':
      return [{ thoughtSignature: withoutSignature, ...callOut(part) }];
    case 'result': {
      const response = part.isError ? { error: part.text } : { output: part.text };
      return [{ functionResponse: { id: part.toolCallId, name: part.name ?? 'unknown', response } }];
    }
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

function own(part: TurnPart): Record<string, Writable> {
  return part.type === 'other' ? {} : (echoed(part, wire) as Record<string, Writable>);
}

function callOut(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  const id = part.toolCallId === '' ? {} : { id: part.toolCallId };
  return { functionCall: { ...id, name: part.name, args: argumentsAsObject(part.args) }, ...own(part) };
}

/** The API takes both ways of writing a name. */
function either(span: JsonSpan | undefined, name: string): JsonSpan | undefined {
  return span?.member(name) ?? span?.member(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function bothNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);
}

const held = bothNames(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']);
const heldLimits = bothNames(['maxOutputTokens', 'temperature', 'topP', 'stopSequences']);

function decodeRequest(raw: string, address?: Address): DecodedRequest {
  const read = new RequestReader(raw);
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

function argsIn(call: JsonSpan): string {
  const args = call.member('args');
  return args === undefined || args.isNull ? '{}' : args.source;
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

function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  return read.objects(root.member('tools'), 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    read.holds(tool, at, bothNames(['functionDeclarations']));
    const declared = `${at}.functionDeclarations`;
    return read.objects(either(tool, 'functionDeclarations'), declared).map((of, n) => {
      const here = `${declared}[${String(n)}]`;
      read.holds(of, here, bothNames(['name', 'description', 'parameters', 'parametersJsonSchema']));
      const schema = either(of, 'parametersJsonSchema');
      return toolOf(
        read.text(of.member('name'), `${here}.name`),
        read.optionalText(of.member('description'), `${here}.description`),
        schema === undefined
          ? asJsonSchema(read.schema(of.member('parameters'), `${here}.parameters`))
          : read.schema(schema, `${here}.parametersJsonSchema`),
      );
    });
  });
}

/** Gemini’s older way of writing a schema: types in capitals, `nullable` beside them. */
function asJsonSchema(schema: JsonObject): JsonObject {
  const { type, nullable, properties, items, anyOf, ...rest } = schema;
  const lower = typeof type === 'string' ? type.toLowerCase() : type;
  return {
    ...(lower === undefined ? {} : { type: nullable === true ? ([lower, 'null'] as JsonValue) : lower }),
    ...rest,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, nested(one)])) }
      : {}),
    ...(items === undefined ? {} : { items: nested(items) }),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(nested) } : {}),
  };
}

function nested(schema: JsonValue): JsonValue {
  return isJsonObject(schema) ? asJsonSchema(schema) : schema;
}

function choiceIn(read: RequestReader, config: JsonSpan | undefined): ToolChoice | null {
  if (config === undefined || config.isNull) return null;
  const at = 'toolConfig.functionCallingConfig';
  const mode = read.optionalText(config.member('mode'), `${at}.mode`)?.toUpperCase();
  const names = read.texts(either(config, 'allowedFunctionNames'), `${at}.allowedFunctionNames`);
  const [only] = names;
  if (names.length > 1 || (only !== undefined && mode !== 'ANY')) read.beyond(`${at}.allowedFunctionNames`);
  if (mode === 'ANY')
    return only !== undefined && names.length === 1 ? { type: 'tool', id: only } : { type: 'required' };
  if (mode === 'NONE') return { type: 'none' };
  if (mode !== undefined && mode !== 'AUTO' && mode !== 'MODE_UNSPECIFIED') read.beyond(`${at}.mode`);
  return mode === 'AUTO' ? { type: 'auto' } : null;
}

function toolPlaces(root: JsonSpan): ToolPlaces {
  const tools = root.member('tools');
  const declarations = (tools?.items ?? []).flatMap((tool) => {
    const span = either(tool, 'functionDeclarations');
    return span?.isArray ? [{ span, tool }] : [];
  });
  return {
    lists: declarations.map(({ span }) => ({
      span,
      names: span.items.map((item) => item.member('name')?.string ?? null),
    })),
    whenEmpty: [{ holder: root, names: ['tools', ...bothNames(['toolConfig'])] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[{"functionDeclarations":[${added.join(',')}]}]`,
  };
}

// ---- A turn.

const finishes: Readonly<Record<string, Finish>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  UNEXPECTED_TOOL_CALL: 'error',
};

const chunkFields = new Set([
  ...[
    'candidates',
    'usageMetadata',
    'modelVersion',
    'responseId',
    'promptFeedback',
    'createTime',
    'error',
    'modelStatus',
  ],
]);
const candidateFields = new Set([
  ...['content', 'finishReason', 'finishMessage', 'index', 'safetyRatings', 'citationMetadata', 'groundingMetadata'],
  ...['tokenCount', 'avgLogprobs', 'logprobsResult', 'urlContextMetadata', 'groundingAttributions'],
]);
const callFields = new Set(['id', 'name', 'args']);

function usageOf(usage: JsonObject, { notes }: TurnBuilder): Usage {
  const reasoning = tokens(usage, 'thoughtsTokenCount', notes);
  return {
    inputTokens: tokens(usage, 'promptTokenCount', notes) + tokens(usage, 'toolUsePromptTokenCount', notes),
    outputTokens: tokens(usage, 'candidatesTokenCount', notes) + reasoning,
    cachedInputTokens: tokens(usage, 'cachedContentTokenCount', notes),
    cacheWriteTokens: 0,
    reasoningTokens: reasoning,
  };
}

function throwError(event: JsonObject): void {
  const { error } = event;
  if (error === undefined || error === null) return;
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
  throw faults.provider(error, code);
}

/** Assembles parts that come whole: a call with all its arguments, a text in pieces. */
class GeminiAssembler implements Assembler {
  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string): Append | null {
    return this.read(event, () => JsonSpan.of(data));
  }

  /** One answer, or one piece of a streamed one; `source` is its text. */
  read(event: JsonObject, source: () => JsonSpan): Append | null {
    throwError(event);
    const { builder } = this;
    countUnknown(event, chunkFields, '', builder.notes);
    if (builder.id === '') builder.id = text(event, 'responseId', '') ?? '';
    if (builder.model === '') builder.model = text(event, 'modelVersion', '') ?? '';
    const usage = object(event, 'usageMetadata', '');
    if (usage !== undefined) builder.usage = usageOf(usage, builder);
    const blocked = text(object(event, 'promptFeedback', '') ?? {}, 'blockReason', 'promptFeedback');
    if (blocked !== undefined) [builder.finish, builder.finishAs] = ['filtered', blocked];
    const [candidate] = objects(event, 'candidates', '');
    if (candidate === undefined) {
      if (usage === undefined && blocked === undefined) builder.notes.add('unknown_event', '');
      return null;
    }
    countUnknown(candidate, candidateFields, 'candidates[0]', builder.notes);
    const content = object(candidate, 'content', 'candidates[0]') ?? {};
    const spans = () => source().member('candidates')?.items[0]?.member('content')?.member('parts')?.items ?? [];
    const parts = objects(content, 'parts', 'candidates[0].content');
    const appends = parts.flatMap((part, index) => {
      const appended = this.#part(part, () => spans()[index], `candidates[0].content.parts[${String(index)}]`);
      return appended === null ? [] : [appended];
    });
    const reason = text(candidate, 'finishReason', 'candidates[0]');
    if (reason !== undefined) this.#finish(reason, text(candidate, 'finishMessage', 'candidates[0]') ?? '');
    const [only] = appends;
    const isOnly = parts.length === 1 && reason === undefined && usage === undefined && only?.slot.isClosed === false;
    if (isOnly) return only;
    for (const { slot, piece } of appends) builder.append(slot, piece);
    return null;
  }

  #part(part: JsonObject, source: () => JsonSpan | undefined, at: string): Append | null {
    const { builder } = this;
    const signature = text(part, 'thoughtSignature', at);
    const piece = text(part, 'text', at);
    if (piece !== undefined) {
      const type = part['thought'] === true ? 'reasoning' : 'text';
      const last = builder.slots.at(-1);
      const slot = last?.type === type && !last.isClosed ? last : builder.open(type);
      if (type === 'reasoning') slot.echo ??= {};
      // A signature ends its part: what follows must not be put before it when it goes back.
      if (signature !== undefined) this.#sign(slot, signature);
      return { slot, piece };
    }
    const call = object(part, 'functionCall', at);
    if (call === undefined) {
      const kind = Object.keys(part).find((name) => name !== 'thought' && name !== 'thoughtSignature');
      if (kind !== undefined) builder.other(kind, source()?.source ?? '{}');
      else if (signature !== undefined && builder.slots.length > 0) this.#sign(builder.slots.at(-1) as Slot, signature);
      return null;
    }
    countUnknown(call, callFields, `${at}.functionCall`, builder.notes);
    const name = text(call, 'name', `${at}.functionCall`) ?? '';
    const slot = builder.open('call', name, text(call, 'id', `${at}.functionCall`) ?? '');
    const span =
      object(call, 'args', `${at}.functionCall`) === undefined ? undefined : source()?.member('functionCall');
    slot.text = span === undefined ? '' : argsIn(span);
    if (signature !== undefined) this.#sign(slot, signature);
    return null;
  }

  #sign(slot: Slot, thoughtSignature: string): void {
    slot.echo = { ...slot.echo, thoughtSignature };
    slot.isClosed = true;
  }

  #finish(reason: string, message: string): void {
    const { builder } = this;
    builder.finishAs = reason;
    builder.finish = finishes[reason] ?? 'other';
    if (reason !== 'MALFORMED_FUNCTION_CALL') return;
    // What the model wrote is no call that Gemini could read. As a call of what it wrote, the model is shown its mistake.
    const written = message.replace(/^Malformed function call:\s*/i, '');
    builder.open('call', nameOfMalformed(written) ?? 'unknown').text = written === '' ? reason : written;
    builder.notes.add('malformed_call', reason);
    builder.finish = 'calls';
  }

  end(): DecodedTurn {
    if (this.builder.finish === null) throw faults.cutOff();
    return this.builder.turn(false);
  }
}

/** The models write calls as Python: `print(default_api.find(name='a'))`. */
function nameOfMalformed(written: string): string | undefined {
  return (/default_api\.([A-Za-z_][\w-]*)/.exec(written) ?? /([A-Za-z_][\w-]*)\s*\(/.exec(written))?.[1];
}

/** One answer, or the list of pieces that a stream without server-sent events is. */
function decodeTurn(body: string): DecodedTurn {
  if (/^\s*</.test(body)) throw faults.html();
  let root: JsonSpan;
  try {
    root = JsonSpan.of(body);
  } catch {
    throw faults.notJson('an answer');
  }
  const builder = new TurnBuilder(wire);
  const assembler = new GeminiAssembler(builder);
  const pieces = root.isArray ? root.items : [root];
  let hasCandidates = false;
  for (const piece of pieces) {
    const value: unknown = JSON.parse(piece.source);
    if (!isJsonObject(value)) throw faults.wrongType('the answer', 'an object');
    hasCandidates ||= value['candidates'] !== undefined || value['promptFeedback'] !== undefined;
    const appended = assembler.read(value, () => piece);
    if (appended !== null) builder.append(appended.slot, appended.piece);
  }
  if (!hasCandidates) throw faults.wrongShape('`candidates`');
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn(false);
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  error: 'OTHER',
  other: 'OTHER',
};

function usageIn(usage: Usage): Writable {
  return {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: Math.max(0, usage.outputTokens - usage.reasoningTokens),
    thoughtsTokenCount: usage.reasoningTokens,
    cachedContentTokenCount: usage.cachedInputTokens,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}

function partOut(part: TurnPart): readonly Writable[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...own(part) }];
    case 'reasoning':
      return [{ text: part.text, thought: true, ...own(part) }];
    case 'call':
      return [callOut(part)];
    case 'other':
      return part.wire === wire ? [new JsonText(part.raw)] : [];
  }
}

function encodeTurn(turn: Turn): Encoded {
  const dropped = new Dropped();
  for (const part of turn.parts) if (part.type === 'other' && part.wire !== wire) dropped.part(part);
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const content = { role: 'model', parts: turn.parts.flatMap(partOut) };
  const body = writeJson({
    candidates: [{ content, finishReason: words[turn.finish], index: 0 }],
    usageMetadata: usageIn(turn.usage),
    modelVersion: turn.model,
    responseId: turn.id,
  });
  return { body, dropped: dropped.list() };
}

function streamEncoder({ id, model }: TurnHead): StreamEncoder {
  const head = { modelVersion: model, responseId: id };
  const chunk = (
    parts: readonly Writable[],
    rest: Record<string, Writable> = {},
    usage: Record<string, Writable> = {},
  ) =>
    sseFrame(writeJson({ candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], ...usage, ...head }));
  return {
    start: () => new Uint8Array(0),
    part: (part) => {
      const parts = partOut(part);
      return parts.length === 0 ? new Uint8Array(0) : chunk(parts);
    },
    end: (reason, usage) => chunk([], { finishReason: words[reason] }, { usageMetadata: usageIn(usage) }),
  };
}

/** Google’s Gemini, generateContent and streamGenerateContent. */
export const gemini: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'contents',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => contentsOf(messages, new Dropped()),
  toolPlaces,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new GeminiAssembler(builder),
};
