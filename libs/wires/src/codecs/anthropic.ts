import { type JsonObject, type ToolChoice } from '@sluice/core';
import type { Address, Codec, EncodeOptions, StreamEncoder, ToolPlaces, TurnHead } from '../codec.js';
import { errorNames, faults } from '../diagnosis.js';
import { isObjectText, JsonText, writeJson, type Writable } from '../json/json-text.js';
import { countUnknown, integer, object, objects, text, tokens } from '../json/read.js';
import { JsonSpan } from '../json/span.js';
import type { Append, Assembler } from '../stream/decoder.js';
import { awsFrame, sseFrame } from '../stream/frames.js';
import { TurnBuilder, type Slot } from '../turn-builder.js';
import {
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
import { inTurns, RequestReader, silent, toolOf } from './request-reader.js';

/** On either address a part’s signature is Anthropic’s, so both wires have one name for what is echoed. */
const wire = 'anthropic';

/** Wires of objects: arguments that are none go as the text that the model wrote, in a member that says so. */
export function argumentsAsObject(args: string): Writable {
  return isObjectText(args) ? new JsonText(args) : { invalid_json: args };
}

// ---- A request.

/** Anthropic demands a limit. */
const defaultMaxTokens = 4_096;

function encodeRequest(request: WireRequest, isBedrock: boolean, { cachePrefix = false }: EncodeOptions = {}): Encoded {
  const dropped = new Dropped();
  const body = writeJson({
    ...(isBedrock ? { anthropic_version: 'bedrock-2023-05-31' } : { model: request.model }),
    max_tokens: request.maxOutputTokens ?? defaultMaxTokens,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    stop_sequences: request.stopSequences.length === 0 ? undefined : request.stopSequences,
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
    messages: messagesOf(request.messages, dropped).map((item) => new JsonText(item)),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => new JsonText(encodeTool(tool))),
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

function encodeTool({ name, description, inputSchema }: WireTool): string {
  return writeJson({ name, ...(description === '' ? {} : { description }), input_schema: inputSchema as Writable });
}

function messagesOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return inTurns(messages).flatMap(({ role, parts }) => {
    const blocks = parts.flatMap((part) => blockOf(part, dropped));
    return blocks.length === 0 ? [] : [writeJson({ role, content: blocks })];
  });
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
          content: part.text,
          ...(part.isError ? { is_error: true } : {}),
        },
      ];
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

function callOut(part: Extract<TurnPart, { type: 'call' }>): Writable {
  return { type: 'tool_use', id: part.toolCallId, name: part.name, input: argumentsAsObject(part.args) };
}

function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const { data, signature = '' } = echoed(part, wire) as Record<string, Writable>;
  if (data !== undefined) return { type: 'redacted_thinking', data };
  return { type: 'thinking', thinking: part.text, signature };
}

const held = [
  ...['model', 'anthropic_version', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'temperature', 'top_p'],
  ...['stop_sequences', 'stream'],
];

function decodeRequest(raw: string, address?: Address): DecodedRequest {
  const read = new RequestReader(raw);
  const { root } = read;
  read.holds(root, '', held);
  return read.decoded({
    ...silent,
    model: read.optionalText(root.member('model'), 'model') ?? address?.model ?? '',
    instructions: textOf(read, root.member('system'), 'system'),
    messages: read.objects(root.member('messages'), 'messages').map((message, index) => {
      const at = `messages[${String(index)}]`;
      read.holds(message, at, ['role', 'content']);
      const role = read.text(message.member('role'), `${at}.role`) === 'assistant' ? 'assistant' : 'user';
      return { role, parts: partsIn(read, message.member('content'), `${at}.content`) };
    }),
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, root.member('tool_choice')),
    maxOutputTokens: read.number(root.member('max_tokens'), 'max_tokens'),
    temperature: read.number(root.member('temperature'), 'temperature'),
    topP: read.number(root.member('top_p'), 'top_p'),
    stopSequences: read.texts(root.member('stop_sequences'), 'stop_sequences'),
    stream: read.flag(root.member('stream'), 'stream') || address?.stream === true,
  });
}

function partsIn(read: RequestReader, content: JsonSpan | undefined, at: string): readonly MessagePart[] {
  if (content === undefined || content.isNull) return [];
  if (content.isString) return [{ type: 'text', text: read.text(content, at) }];
  return read.objects(content, at).map((block, index) => partIn(read, block, `${at}[${String(index)}]`));
}

function partIn(read: RequestReader, block: JsonSpan, at: string): MessagePart {
  const type = read.text(block.member('type'), `${at}.type`);
  switch (type) {
    case 'text':
      read.holds(block, at, ['type', 'text']);
      return { type, text: read.text(block.member('text'), `${at}.text`) };
    case 'thinking': {
      read.holds(block, at, ['type', 'thinking', 'signature']);
      const signature = read.optionalText(block.member('signature'), `${at}.signature`) ?? '';
      const thought = read.text(block.member('thinking'), `${at}.thinking`);
      return { type: 'reasoning', text: thought, echo: { wire, fields: { signature } } };
    }
    case 'redacted_thinking':
      read.holds(block, at, ['type', 'data']);
      return {
        type: 'reasoning',
        text: '',
        echo: { wire, fields: { data: read.text(block.member('data'), `${at}.data`) } },
      };
    case 'tool_use':
      read.holds(block, at, ['type', 'id', 'name', 'input']);
      return {
        type: 'call',
        toolCallId: read.text(block.member('id'), `${at}.id`),
        name: read.text(block.member('name'), `${at}.name`),
        args: block.member('input')?.source ?? '{}',
      };
    case 'tool_result':
      read.holds(block, at, ['type', 'tool_use_id', 'content', 'is_error']);
      return {
        type: 'result',
        toolCallId: read.text(block.member('tool_use_id'), `${at}.tool_use_id`),
        name: null,
        text: textOf(read, block.member('content'), `${at}.content`),
        isError: read.flag(block.member('is_error'), `${at}.is_error`),
      };
    default:
      return { type: 'other', wire, kind: type, raw: block.source };
  }
}

/** The texts of content; other blocks in it are not held. */
function textOf(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return partsIn(read, content, at)
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}

function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  return read.objects(root.member('tools'), 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    if (nameOf(tool) === null) {
      read.beyond(at);
      return [];
    }
    read.holds(tool, at, ['type', 'name', 'description', 'input_schema']);
    return [
      toolOf(
        read.text(tool.member('name'), `${at}.name`),
        read.optionalText(tool.member('description'), `${at}.description`),
        read.schema(tool.member('input_schema'), `${at}.input_schema`),
      ),
    ];
  });
}

/** Null for a tool that Anthropic runs or defines itself. */
function nameOf(tool: JsonSpan): string | null {
  const type = tool.member('type')?.string ?? 'custom';
  return type === 'custom' ? (tool.member('name')?.string ?? null) : null;
}

function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  read.holds(read.object(choice, 'tool_choice'), 'tool_choice', ['type', 'name']);
  const type = read.text(choice.member('type'), 'tool_choice.type');
  if (type === 'tool') return { type, id: read.text(choice.member('name'), 'tool_choice.name') };
  if (type === 'any') return { type: 'required' };
  if (type === 'auto' || type === 'none') return { type };
  read.beyond('tool_choice');
  return null;
}

function toolPlaces(root: JsonSpan): ToolPlaces {
  const tools = root.member('tools');
  return {
    lists: tools?.isArray ? [{ span: tools, names: tools.items.map(nameOf) }] : [],
    whenEmpty: [{ holder: root, names: ['tools', 'tool_choice'] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[${added.join(',')}]`,
  };
}

// ---- A turn.

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
  pause_turn: 'other',
};

const messageFields = new Set([
  ...['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage', 'container', 'stop_details'],
  ...['context_management', 'diagnostics'],
]);
const deltaFields = new Set(['stop_reason', 'stop_sequence', 'container', 'stop_details']);
const eventFields = new Set(['type', 'message', 'index', 'content_block', 'delta', 'usage', 'context_management']);

function usageOf(usage: JsonObject | undefined, before: Usage, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return before;
  const has = (name: string): boolean => usage[name] !== undefined && usage[name] !== null;
  const cached = has('cache_read_input_tokens')
    ? tokens(usage, 'cache_read_input_tokens', notes)
    : before.cachedInputTokens;
  const written = has('cache_creation_input_tokens')
    ? tokens(usage, 'cache_creation_input_tokens', notes)
    : before.cacheWriteTokens;
  const fresh = has('input_tokens')
    ? tokens(usage, 'input_tokens', notes)
    : before.inputTokens - before.cachedInputTokens - before.cacheWriteTokens;
  return {
    inputTokens: fresh + cached + written,
    outputTokens: has('output_tokens') ? tokens(usage, 'output_tokens', notes) : before.outputTokens,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: 0,
  };
}

function throwError(event: JsonObject): void {
  const { error } = event;
  if (event['type'] !== 'error' && (error === undefined || error === null)) return;
  throw faults.provider(error, errorNames(error) === 'overloaded_error' ? 529 : undefined);
}

/** Assembles the content blocks of one message. */
class MessagesAssembler implements Assembler {
  readonly #blocks = new Map<number, { readonly slot: Slot; readonly kind: string }>();
  #hasEnded = false;

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string, name: string): Append | null {
    const { builder } = this;
    const type = text(event, 'type', '') ?? name;
    switch (type) {
      case 'content_block_delta':
        return this.#delta(event);
      case 'message_start':
        this.start(object(event, 'message', '') ?? {});
        break;
      case 'content_block_start':
        this.#open(event, data);
        break;
      case 'content_block_stop': {
        const block = this.#blocks.get(integer(event, 'index', '') ?? 0);
        if (block !== undefined) block.slot.isClosed = true;
        break;
      }
      case 'message_delta':
        this.#messageDelta(event);
        break;
      case 'message_stop':
        this.#hasEnded = true;
        break;
      case 'ping':
        break;
      default:
        throwError(event);
        builder.notes.add('unknown_event', type);
        return null;
    }
    countUnknown(event, eventFields, '', builder.notes);
    return null;
  }

  start(message: JsonObject): void {
    const { builder } = this;
    countUnknown(message, messageFields, 'message', builder.notes);
    builder.id = text(message, 'id', 'message') ?? '';
    builder.model = text(message, 'model', 'message') ?? '';
    builder.usage = usageOf(object(message, 'usage', 'message'), builder.usage, builder);
    this.#ends(message, 'message');
  }

  #ends(holder: JsonObject, at: string): void {
    const reason = text(holder, 'stop_reason', at);
    if (reason === undefined) return;
    this.builder.finishAs = reason;
    this.builder.finish = finishes[reason] ?? 'other';
  }

  #messageDelta(event: JsonObject): void {
    const { builder } = this;
    const delta = object(event, 'delta', '') ?? {};
    countUnknown(delta, deltaFields, 'delta', builder.notes);
    this.#ends(delta, 'delta');
    builder.usage = usageOf(object(event, 'usage', ''), builder.usage, builder);
  }

  #open(event: JsonObject, data: string): void {
    const block = object(event, 'content_block', '') ?? {};
    const source = () => JsonSpan.of(data).member('content_block');
    const slot = this.block(block, source, 'content_block');
    this.#blocks.set(integer(event, 'index', '') ?? 0, { slot, kind: text(block, 'type', 'content_block') ?? '' });
  }

  /** A block with what it holds so far; whole, in an answer that is not streamed. */
  block(block: JsonObject, source: () => JsonSpan | undefined, at: string): Slot {
    const { builder } = this;
    const type = text(block, 'type', at) ?? '';
    switch (type) {
      case 'text': {
        const slot = builder.open('text');
        slot.text = text(block, 'text', at) ?? '';
        if (Array.isArray(block['citations']) && block['citations'].length > 0)
          builder.notes.add('unknown_field', `${at}.citations`);
        return slot;
      }
      case 'thinking': {
        const slot = builder.open('reasoning');
        slot.text = text(block, 'thinking', at) ?? '';
        slot.echo = { signature: text(block, 'signature', at) ?? '' };
        return slot;
      }
      case 'redacted_thinking': {
        const slot = builder.open('reasoning');
        slot.echo = { data: text(block, 'data', at) ?? '' };
        return slot;
      }
      case 'tool_use': {
        const slot = builder.open('call', text(block, 'name', at) ?? '', text(block, 'id', at) ?? '');
        // A streamed call begins with an empty object and is written in pieces behind it.
        const input = block['input'];
        if (input !== undefined && input !== null && JSON.stringify(input) !== '{}')
          slot.text = source()?.member('input')?.source ?? '';
        return slot;
      }
      default:
        builder.other(type, source()?.source ?? '{}');
        return builder.slots.at(-1) as Slot;
    }
  }

  #delta(event: JsonObject): Append | null {
    const { builder } = this;
    const block = this.#blocks.get(integer(event, 'index', '') ?? 0);
    const delta = object(event, 'delta', '') ?? {};
    const type = text(delta, 'type', 'delta') ?? '';
    const piece = deltaTexts[type] === undefined ? undefined : (text(delta, deltaTexts[type].field, 'delta') ?? '');
    if (piece === undefined || block?.slot.type !== deltaTexts[type]?.slot || block === undefined) {
      // What belongs to a block that is not read is not read either.
      if (block?.slot.type !== 'other') builder.notes.add('unknown_event', type === '' ? 'content_block_delta' : type);
      return null;
    }
    if (type !== 'signature_delta') return { slot: block.slot, piece };
    const signature = block.slot.echo?.['signature'];
    block.slot.echo = { signature: `${typeof signature === 'string' ? signature : ''}${piece}` };
    return null;
  }

  end(): DecodedTurn {
    const { builder } = this;
    if (builder.finish === null) {
      const isWhole = builder.slots.length > 0 && builder.slots.every(({ isClosed }) => isClosed);
      if (!this.#hasEnded || !isWhole) throw faults.cutOff();
      builder.notes.add('finish_missing', '');
    }
    return builder.turn();
  }
}

/** Deltas by type: the field that holds the piece, and the kind of part that it belongs to. */
const deltaTexts: Readonly<Record<string, { readonly field: string; readonly slot: Slot['type'] }>> = {
  text_delta: { field: 'text', slot: 'text' },
  thinking_delta: { field: 'thinking', slot: 'reasoning' },
  signature_delta: { field: 'signature', slot: 'reasoning' },
  input_json_delta: { field: 'partial_json', slot: 'call' },
};

function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  throwError(whole);
  if (!Array.isArray(whole['content'])) throw faults.wrongShape('`content`');
  const builder = new TurnBuilder(wire);
  const assembler = new MessagesAssembler(builder);
  assembler.start(whole);
  let items: readonly JsonSpan[] | undefined;
  objects(whole, 'content', '').forEach((block, index) => {
    const source = () => (items ??= JsonSpan.of(body).member('content')?.items ?? [])[index];
    assembler.block(block, source, `content[${String(index)}]`);
  });
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'refusal',
  error: 'end_turn',
  other: 'end_turn',
};

function usageIn(usage: Usage): Writable {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
  };
}

function encodeTurn(turn: Turn): Encoded {
  const dropped = new Dropped();
  if (turn.usage.reasoningTokens > 0) dropped.add('the count of reasoning tokens');
  const content = turn.parts.flatMap((part): readonly Writable[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type === 'call') return [callOut(part)];
    if (part.type === 'reasoning') return [reasoningOut(part)];
    if (part.wire === wire) return [new JsonText(part.raw)];
    dropped.part(part);
    return [];
  });
  const body = writeJson({
    id: turn.id,
    type: 'message',
    role: 'assistant',
    model: turn.model,
    content,
    stop_reason: words[turn.finish],
    stop_sequence: null,
    usage: usageIn(turn.usage),
  });
  return { body, dropped: dropped.list() };
}

type Frame = (type: string, rest: Record<string, Writable>) => Uint8Array;

const sse: Frame = (type, rest) => sseFrame(writeJson({ type, ...rest }), type);
const chunks: Frame = (type, rest) =>
  awsFrame('chunk', JSON.stringify({ bytes: Buffer.from(writeJson({ type, ...rest })).toString('base64') }));

function streamEncoder({ id, model }: TurnHead, frame: Frame): StreamEncoder {
  let index = -1;
  let open: 'text' | 'reasoning' | null = null;
  const close = (): readonly Uint8Array[] => {
    if (open === null) return [];
    open = null;
    return [frame('content_block_stop', { index })];
  };
  const delta = (value: Writable) => frame('content_block_delta', { index, delta: value });
  const begin = (block: Writable) => {
    index += 1;
    return frame('content_block_start', { index, content_block: block });
  };
  const whole = (block: Writable, ...deltas: Writable[]) => [
    ...close(),
    begin(block),
    ...deltas.map(delta),
    frame('content_block_stop', { index }),
  ];
  function frames(part: TurnPart): readonly Uint8Array[] {
    switch (part.type) {
      case 'text': {
        const before = open === 'text' ? [] : [...close(), begin({ type: 'text', text: '' })];
        open = 'text';
        return [...before, delta({ type: 'text_delta', text: part.text })];
      }
      case 'reasoning': {
        const block = reasoningOut(part);
        if ('data' in block) return whole(block);
        const thought = { type: 'thinking_delta', thinking: part.text };
        // With its signature a thought is complete; without one, more of it may come.
        if (part.echo?.wire === wire)
          return whole({ type: 'thinking', thinking: '', signature: '' }, thought, {
            type: 'signature_delta',
            signature: block['signature'] as string,
          });
        const before =
          open === 'reasoning' ? [] : [...close(), begin({ type: 'thinking', thinking: '', signature: '' })];
        open = 'reasoning';
        return [...before, delta(thought)];
      }
      case 'call':
        return whole(
          { type: 'tool_use', id: part.toolCallId, name: part.name, input: {} },
          { type: 'input_json_delta', partial_json: part.args },
        );
      case 'other':
        return part.wire === wire ? whole(new JsonText(part.raw)) : [];
    }
  }
  return {
    start: () =>
      frame('message_start', {
        message: {
          ...{ id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null },
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      }),
    part: (part) => Buffer.concat(frames(part)),
    end: (reason, usage) =>
      Buffer.concat([
        ...close(),
        frame('message_delta', { delta: { stop_reason: words[reason], stop_sequence: null }, usage: usageIn(usage) }),
        frame('message_stop', {}),
      ]),
  };
}

const both = {
  // A signature is Anthropic’s at either address.
  partsOf: wire,
  messagesName: 'messages',
  decodeRequest,
  encodeTool,
  encodeMessages: (messages: readonly Message[]) => messagesOf(messages, new Dropped()),
  toolPlaces,
  encodeTurn,
  decodeTurn,
  assembler: (builder: TurnBuilder) => new MessagesAssembler(builder),
} as const;

/** Anthropic’s Messages API. */
export const anthropic: Codec = {
  ...both,
  name: 'anthropic',
  contentType: 'text/event-stream',
  framing: 'sse',
  encodeRequest: (request, options) => encodeRequest(request, false, options),
  streamEncoder: (head) => streamEncoder(head, sse),
};

/** The same bodies over Bedrock’s InvokeModel. */
export const bedrockAnthropic: Codec = {
  ...both,
  name: 'bedrock-anthropic',
  contentType: 'application/vnd.amazon.eventstream',
  framing: 'aws-chunks',
  encodeRequest: (request, options) => encodeRequest(request, true, options),
  streamEncoder: (head) => streamEncoder(head, chunks),
};
