import { type JsonObject, type ToolChoice, isJsonObject } from '@sluice/core';
import type { Address, Codec, EncodeOptions, StreamEncoder, ToolPlaces, TurnHead } from '../codec.js';
import { faults } from '../diagnosis.js';
import { JsonText, writeJson, type Writable } from '../json/json-text.js';
import { countUnknown, object, objects, text, tokens } from '../json/read.js';
import type { JsonSpan } from '../json/span.js';
import type { Append, Assembler } from '../stream/decoder.js';
import { sseFrame } from '../stream/frames.js';
import { TurnBuilder, type Slot } from '../turn-builder.js';
import {
  noUsage,
  type DecodedRequest,
  type DecodedTurn,
  type Encoded,
  type Finish,
  type Message,
  type MessagePart,
  type Turn,
  type TurnPart,
  type Usage,
  type WireRequest,
  type WireTool,
} from '../types.js';
import { Dropped, echoed } from './dropped.js';
import { parseWhole } from './parse-whole.js';
import { RequestFault, RequestReader, silent, toolOf } from './request-reader.js';

const wire = 'openai-chat';

// ---- A request.

function encodeRequest(request: WireRequest, { chatLimit = 'max_tokens' }: EncodeOptions = {}): Encoded {
  const dropped = new Dropped();
  const system = request.instructions === '' ? [] : [writeJson({ role: 'system', content: request.instructions })];
  const body = writeJson({
    model: request.model,
    [chatLimit]: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    stop: request.stopSequences.length === 0 ? undefined : request.stopSequences,
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

function encodeTool({ name, description, inputSchema }: WireTool): string {
  const of = { name, ...(description === '' ? {} : { description }), parameters: inputSchema as Writable };
  return writeJson({ type: 'function', function: of });
}

function messagesOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'user' ? userMessages(parts, dropped) : spoken(parts, dropped),
  );
}

/** Results are messages of their own, and stand before what the user says. */
function userMessages(parts: readonly MessagePart[], dropped: Dropped): readonly string[] {
  const results: string[] = [];
  const wholes: string[] = [];
  const said: Writable[] = [];
  for (const part of parts) {
    if (part.type === 'result') {
      if (part.isError) dropped.add('a result’s error mark');
      results.push(writeJson({ role: 'tool', tool_call_id: part.toolCallId, content: part.text }));
    } else if (part.type === 'text') said.push({ type: 'text', text: part.text });
    else if (part.type === 'other' && part.wire === wire) {
      if (part.kind.startsWith('message ')) wholes.push(part.raw);
      else said.push(new JsonText(part.raw));
    } else if (part.type === 'other' || part.type === 'reasoning') dropped.part(part);
  }
  const user = said.length === 0 ? [] : [writeJson({ role: 'user', content: contentOf(said) })];
  return [...results, ...user, ...wholes];
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
      beside = {
        ...beside,
        ...(typeof as === 'string' ? { [as]: part.text } : {}),
        ...(rest as Record<string, Writable>),
      };
    } else if (part.type === 'other' && part.wire === wire) said.push(new JsonText(part.raw));
    else if (part.type !== 'result') dropped.part(part);
  }
  if (said.length === 0 && calls.length === 0 && Object.keys(beside).length === 0) return [];
  const content = said.length === 0 ? null : contentOf(said);
  return [writeJson({ role: 'assistant', content, ...beside, ...(calls.length === 0 ? {} : { tool_calls: calls }) })];
}

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

function decodeRequest(raw: string, address?: Address): DecodedRequest {
  const read = new RequestReader(raw);
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

const reasoningFields = ['reasoning_content', 'reasoning'];

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

function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  return read.objects(root.member('tools'), 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    const of = tool.member('function');
    if (of === undefined) {
      read.beyond(at);
      return [];
    }
    read.holds(tool, at, ['type', 'function']);
    read.holds(of, `${at}.function`, ['name', 'description', 'parameters']);
    return [
      toolOf(
        read.text(of.member('name'), `${at}.function.name`),
        read.optionalText(of.member('description'), `${at}.function.description`),
        read.schema(of.member('parameters'), `${at}.function.parameters`),
      ),
    ];
  });
}

function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  if (choice.isString) {
    const word = read.text(choice, 'tool_choice');
    if (word === 'auto' || word === 'none' || word === 'required') return { type: word };
    throw new RequestFault('`tool_choice` must be `auto`, `none`, `required` or an object.');
  }
  const name = choice.member('function')?.member('name')?.string;
  if (name !== undefined) return { type: 'tool', id: name };
  read.beyond('tool_choice');
  return null;
}

function toolPlaces(root: JsonSpan): ToolPlaces {
  const tools = root.member('tools');
  const names = tools?.items.map((tool) => tool.member('function')?.member('name')?.string ?? null) ?? [];
  return {
    lists: tools?.isArray ? [{ span: tools, names }] : [],
    whenEmpty: [{ holder: root, names: ['tools', 'tool_choice', 'parallel_tool_calls'] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[${added.join(',')}]`,
  };
}

// ---- A turn.

const finishes: Readonly<Record<string, Finish>> = {
  stop: 'stop',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'filtered',
  error: 'error',
};

const chunkFields = new Set([
  ...[
    'id',
    'object',
    'created',
    'model',
    'choices',
    'usage',
    'system_fingerprint',
    'service_tier',
    'obfuscation',
    'error',
  ],
]);
const choiceFields = new Set(['index', 'delta', 'message', 'finish_reason', 'logprobs']);
const messageFields = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'annotations', 'audio'],
  ...['reasoning_content', 'reasoning', 'reasoning_details'],
]);
const callFields = new Set(['index', 'id', 'type', 'function', 'extra_content']);
const functionFields = new Set(['name', 'arguments']);

function finish(builder: TurnBuilder, choice: JsonObject, at: string): void {
  const reason = text(choice, 'finish_reason', at);
  if (reason === undefined) return;
  builder.finishAs = reason;
  builder.finish = finishes[reason] ?? 'other';
}

function usageOf(usage: JsonObject | undefined, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return noUsage;
  return {
    inputTokens: tokens(usage, 'prompt_tokens', notes),
    outputTokens: tokens(usage, 'completion_tokens', notes),
    cachedInputTokens: tokens(object(usage, 'prompt_tokens_details', 'usage'), 'cached_tokens', notes),
    cacheWriteTokens: 0,
    reasoningTokens: tokens(object(usage, 'completion_tokens_details', 'usage'), 'reasoning_tokens', notes),
  };
}

function throwError(error: unknown): void {
  if (error === undefined || error === null) return;
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
  throw faults.provider(error, code);
}

/** What a delta appends, and whether that is all that it can mean. */
interface Piece extends Append {
  readonly isPure: boolean;
}

/** Assembles the deltas of one stream. Of several choices the first counts: only that is ever asked for. */
class ChatAssembler implements Assembler {
  /** Calls by the index that the wire gives them. */
  readonly #byIndex = new Map<number, Slot>();
  #text: Slot | null = null;
  #reasoning: Slot | null = null;
  #isDone = false;

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject): Append | null {
    throwError(event['error']);
    const { builder } = this;
    countUnknown(event, chunkFields, '', builder.notes);
    if (builder.id === '') builder.id = text(event, 'id', '') ?? '';
    if (builder.model === '') builder.model = text(event, 'model', '') ?? '';
    const usage = object(event, 'usage', '');
    if (usage !== undefined) builder.usage = usageOf(usage, builder);
    const [choice] = objects(event, 'choices', '');
    if (choice === undefined) {
      if (usage === undefined && event['choices'] === undefined)
        builder.notes.add('unknown_event', text(event, 'object', '') ?? '');
      return null;
    }
    countUnknown(choice, choiceFields, 'choices[0]', builder.notes);
    const delta = object(choice, 'delta', 'choices[0]') ?? object(choice, 'message', 'choices[0]');
    const had = builder.finish;
    finish(builder, choice, 'choices[0]');
    const appends = delta === undefined ? [] : this.#delta(delta);
    const [only] = appends;
    const isOnly = only?.isPure === true && appends.length === 1 && builder.finish === had && usage === undefined;
    if (isOnly) return only;
    for (const { slot, piece } of appends) builder.append(slot, piece);
    return null;
  }

  #delta(delta: JsonObject): Piece[] {
    const at = 'choices[0].delta';
    const { builder } = this;
    countUnknown(delta, messageFields, at, builder.notes);
    const appends: Piece[] = [];
    const details = delta['reasoning_details'];
    const isPure = details === undefined;
    for (const as of reasoningFields) {
      const piece = text(delta, as, at);
      if (piece === undefined || piece === '') continue;
      const slot = (this.#reasoning ??= builder.open('reasoning'));
      slot.echo = { ...slot.echo, as };
      appends.push({ slot, piece, isPure });
      break;
    }
    if (Array.isArray(details) && details.length > 0) {
      const slot = (this.#reasoning ??= builder.open('reasoning'));
      const before = slot.echo?.['reasoning_details'];
      slot.echo = { ...slot.echo, reasoning_details: [...(Array.isArray(before) ? before : []), ...details] };
    }
    for (const piece of [text(delta, 'content', at), text(delta, 'refusal', at)])
      if (piece !== undefined && piece !== '')
        appends.push({ slot: (this.#text ??= builder.open('text')), piece, isPure });
    objects(delta, 'tool_calls', at).forEach((call, n) =>
      appends.push(...this.#call(call, `${at}.tool_calls[${String(n)}]`)),
    );
    const old = object(delta, 'function_call', at);
    if (old !== undefined) appends.push(...this.#call({ index: 0, function: old }, at));
    return appends;
  }

  #call(call: JsonObject, at: string): Piece[] {
    const { notes } = this.builder;
    countUnknown(call, callFields, at, notes);
    const of = object(call, 'function', at) ?? {};
    countUnknown(of, functionFields, `${at}.function`, notes);
    const id = text(call, 'id', at) ?? '';
    const name = text(of, 'name', `${at}.function`) ?? '';
    const piece = argumentsIn(of, at);
    const slot = this.#slotFor(call['index'], id, name);
    if (slot.toolCallId === '') slot.toolCallId = id;
    if (slot.name === '') slot.name = name;
    const extra = call['extra_content'];
    if (extra !== undefined && extra !== null) slot.echo = { ...slot.echo, extra_content: extra };
    // A name or an id may begin another call.
    return [{ slot, piece, isPure: id === '' && name === '' && extra === undefined }];
  }

  /**
   * Which call a delta belongs to. An index names it, but there are servers that give none, or zero to every call: another id begins another
   * call, and so does another name, or the same name again once the arguments are complete.
   */
  #slotFor(index: unknown, id: string, name: string): Slot {
    const { builder } = this;
    const at = typeof index === 'number' ? index : undefined;
    const current = at === undefined ? builder.calls.at(-1) : this.#byIndex.get(at);
    const isAnother =
      current === undefined ||
      (id !== '' && current.toolCallId !== '' && id !== current.toolCallId) ||
      (name !== '' && id === '' && current.name !== '' && (name !== current.name || isJson(current.text))) ||
      (at === undefined && id !== '' && current.toolCallId === '' && name !== '');
    if (!isAnother) return current;
    const byId = id === '' || current === undefined ? undefined : builder.calls.find((call) => call.toolCallId === id);
    if (byId !== undefined && name === '') return byId;
    const opened = builder.open('call', name, id);
    if (at !== undefined) this.#byIndex.set(at, opened);
    return opened;
  }

  word(data: string): boolean {
    if (data.trim() !== '[DONE]') return false;
    this.#isDone = true;
    return true;
  }

  end(): DecodedTurn {
    const { builder } = this;
    if (builder.finish === null) {
      // With its last word the server says that it is done; whether that is all that it meant to say, the arguments tell.
      const isComplete =
        builder.slots.length > 0 && builder.calls.every((call) => call.text === '' || isJson(call.text));
      if (!this.#isDone || !isComplete) throw faults.cutOff();
      builder.notes.add('finish_missing', '');
    }
    return builder.turn();
  }
}

/** Some servers send the arguments as the object that they are. */
function argumentsIn(of: JsonObject, at: string): string {
  const given = of['arguments'];
  if (isJsonObject(given)) return writeJson(given as Writable);
  return text(of, 'arguments', `${at}.function`) ?? '';
}

function isJson(written: string): boolean {
  try {
    JSON.parse(written);
    return true;
  } catch {
    return false;
  }
}

function decodeTurn(body: string): DecodedTurn {
  const builder = new TurnBuilder(wire);
  const whole = parseWhole(body);
  throwError(whole['error']);
  const [choice] = objects(whole, 'choices', '');
  if (choice === undefined || object(choice, 'message', 'choices[0]') === undefined)
    throw faults.wrongShape('`choices[0].message`');
  const assembler = new ChatAssembler(builder);
  const appended = assembler.event(whole);
  if (appended !== null) builder.append(appended.slot, appended.piece);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  error: 'error',
  other: 'stop',
};

function usageIn(usage: Usage): Writable {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function encodeTurn(turn: Turn, createdAtMs: number): Encoded {
  const dropped = new Dropped();
  const message: Record<string, Writable> = { role: 'assistant', content: null, refusal: null };
  const calls: Writable[] = [];
  for (const part of turn.parts) {
    if (part.type === 'text') message['content'] = `${(message['content'] as string | null) ?? ''}${part.text}`;
    else if (part.type === 'call') calls.push(callOut(part));
    else if (part.type === 'reasoning') Object.assign(message, reasoningOut(part));
    else dropped.part(part);
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const body = writeJson({
    id: turn.id,
    object: 'chat.completion',
    created: Math.floor(createdAtMs / 1_000),
    model: turn.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: words[turn.finish] }],
    usage: usageIn(turn.usage),
  });
  return { body, dropped: dropped.list() };
}

function callOut(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  return {
    id: part.toolCallId,
    type: 'function',
    function: { name: part.name, arguments: part.args },
    ...(echoed(part, wire) as Record<string, Writable>),
  };
}

function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const { as = 'reasoning_content', ...rest } = echoed(part, wire) as Record<string, Writable>;
  return { [as as string]: part.text, ...rest };
}

function streamEncoder({ id, model, createdAtMs }: TurnHead): StreamEncoder {
  const created = Math.floor(createdAtMs / 1_000);
  let calls = 0;
  const chunk = (choices: Writable, rest: Record<string, Writable> = {}) =>
    sseFrame(writeJson({ id, object: 'chat.completion.chunk', created, model, choices, ...rest }));
  const delta = (value: Writable, reason: string | null = null) =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: reason }]);
  return {
    start: () => delta({ role: 'assistant', content: '' }),
    part(part) {
      if (part.type === 'text') return delta({ content: part.text });
      if (part.type === 'call') return delta({ tool_calls: [{ index: calls++, ...callOut(part) }] });
      return part.type === 'reasoning' ? delta(reasoningOut(part)) : new Uint8Array(0);
    },
    end: (reason, usage) =>
      Buffer.concat([delta({}, words[reason]), chunk([], { usage: usageIn(usage) }), sseFrame('[DONE]')]),
  };
}

/** OpenAI’s Chat Completions, and the many servers that speak it. */
export const openaiChat: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'messages',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => messagesOf(messages, new Dropped()),
  toolPlaces,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ChatAssembler(builder),
};
