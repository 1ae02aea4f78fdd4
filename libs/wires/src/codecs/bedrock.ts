import { type JsonObject, type JsonValue, type ToolChoice } from '@sluice/core';
import type { Address, Codec, EncodeOptions, StreamEncoder, ToolPlaces, TurnHead } from '../codec.js';
import { faults } from '../diagnosis.js';
import { JsonText, writeJson, type Writable } from '../json/json-text.js';
import { countUnknown, integer, object, objects, text, tokens } from '../json/read.js';
import { JsonSpan } from '../json/span.js';
import type { Append, Assembler } from '../stream/decoder.js';
import { awsFrame } from '../stream/frames.js';
import { TurnBuilder, type Slot } from '../turn-builder.js';
import {
  type DecodedRequest,
  type DecodedTurn,
  type Encoded,
  type Finish,
  type Message,
  type MessagePart,
  noUsage,
  type Turn,
  type TurnPart,
  type Usage,
  type WireRequest,
  type WireTool,
} from '../types.js';
import { argumentsAsObject } from './anthropic.js';
import { Dropped, echoed } from './dropped.js';
import { parseWhole } from './parse-whole.js';
import { inTurns, RequestReader, silent, toolOf } from './request-reader.js';

const wire = 'bedrock';

// ---- A request.

function encodeRequest(request: WireRequest, { resultStatus = true }: EncodeOptions = {}): Encoded {
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
    system: request.instructions === '' ? undefined : [{ text: request.instructions }],
    messages: messagesOf(request.messages, dropped, resultStatus).map((item) => new JsonText(item)),
    inferenceConfig: Object.values(limits).every((value) => value === undefined) ? undefined : limits,
    toolConfig:
      request.tools.length === 0
        ? undefined
        : { tools: request.tools.map((tool) => new JsonText(encodeTool(tool))), toolChoice: choice },
  });
  return { body, dropped: dropped.list() };
}

function choiceOf(choice: ToolChoice): Writable {
  if (choice.type === 'tool') return { tool: { name: choice.id } };
  return choice.type === 'required' ? { any: {} } : { auto: {} };
}

function encodeTool({ name, description, inputSchema }: WireTool): string {
  const spec = { name, ...(description === '' ? {} : { description }), inputSchema: { json: inputSchema as Writable } };
  return writeJson({ toolSpec: spec });
}

function messagesOf(messages: readonly Message[], dropped: Dropped, hasStatus = true): readonly string[] {
  return inTurns(messages).flatMap(({ role, parts }) => {
    const content = parts.flatMap((part) => blockOf(part, dropped, hasStatus));
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
      return [{ toolResult: { toolUseId: part.toolCallId, content: [{ text: part.text }], ...status } }];
    }
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
  return { toolUse: { toolUseId: part.toolCallId, name: part.name, input: argumentsAsObject(part.args) } };
}

function reasoningOut(part: Extract<TurnPart, { type: 'reasoning' }>): Writable {
  const { redactedContent, signature } = echoed(part, wire) as Record<string, Writable>;
  if (redactedContent !== undefined) return { reasoningContent: { redactedContent } };
  return { reasoningContent: { reasoningText: { text: part.text, signature } } };
}

const held = ['messages', 'system', 'inferenceConfig', 'toolConfig'];

function decodeRequest(raw: string, address?: Address): DecodedRequest {
  const read = new RequestReader(raw);
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

function toolsIn(read: RequestReader, config: JsonSpan | undefined): readonly WireTool[] {
  if (config === undefined || config.isNull) return [];
  read.holds(read.object(config, 'toolConfig'), 'toolConfig', ['tools', 'toolChoice']);
  return read.objects(config.member('tools'), 'toolConfig.tools').flatMap((tool, index) => {
    const at = `toolConfig.tools[${String(index)}]`;
    const spec = tool.member('toolSpec');
    if (spec === undefined) {
      read.beyond(at);
      return [];
    }
    read.holds(spec, `${at}.toolSpec`, ['name', 'description', 'inputSchema']);
    return [
      toolOf(
        read.text(spec.member('name'), `${at}.toolSpec.name`),
        read.optionalText(spec.member('description'), `${at}.toolSpec.description`),
        read.schema(spec.member('inputSchema')?.member('json'), `${at}.toolSpec.inputSchema.json`),
      ),
    ];
  });
}

function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  const name = choice.member('tool')?.member('name')?.string;
  if (name !== undefined) return { type: 'tool', id: name };
  if (choice.member('any') !== undefined) return { type: 'required' };
  if (choice.member('auto') !== undefined) return { type: 'auto' };
  read.beyond('toolConfig.toolChoice');
  return null;
}

function toolPlaces(root: JsonSpan): ToolPlaces {
  const config = root.member('toolConfig');
  const tools = config?.member('tools');
  const names = tools?.items.map((tool) => tool.member('toolSpec')?.member('name')?.string ?? null) ?? [];
  const isThere = config?.isObject === true;
  return {
    lists: tools?.isArray ? [{ span: tools, names }] : [],
    whenEmpty: [{ holder: root, names: ['toolConfig'] }],
    holder: isThere ? config : root,
    name: isThere ? 'tools' : 'toolConfig',
    wrap: (added) => (isThere ? `[${added.join(',')}]` : `{"tools":[${added.join(',')}]}`),
  };
}

// ---- A turn.

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'filtered',
  content_filtered: 'filtered',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
};

const startFields = new Set(['start', 'contentBlockIndex', 'p']);
const deltaFields = new Set(['delta', 'contentBlockIndex', 'p']);

function usageOf(usage: JsonObject | undefined, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return noUsage;
  const cached = tokens(usage, 'cacheReadInputTokens', notes);
  const written = tokens(usage, 'cacheWriteInputTokens', notes);
  return {
    inputTokens: tokens(usage, 'inputTokens', notes) + cached + written,
    outputTokens: tokens(usage, 'outputTokens', notes),
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: 0,
  };
}

function finish(builder: TurnBuilder, holder: JsonObject): void {
  const reason = text(holder, 'stopReason', '');
  if (reason === undefined) return;
  builder.finishAs = reason;
  builder.finish = finishes[reason] ?? 'other';
}

/** Assembles the content blocks of one message; a block of text has no start of its own. */
class ConverseAssembler implements Assembler {
  readonly #blocks = new Map<number, Slot>();

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, _data: string, name: string): Append | null {
    const { builder } = this;
    switch (name) {
      case 'contentBlockDelta':
        return this.#delta(event);
      case 'contentBlockStart':
        this.#start(event);
        return null;
      case 'contentBlockStop': {
        const slot = this.#blocks.get(integer(event, 'contentBlockIndex', '') ?? 0);
        if (slot !== undefined) slot.isClosed = true;
        return null;
      }
      case 'messageStop':
        finish(builder, event);
        return null;
      case 'metadata':
        builder.usage = usageOf(object(event, 'usage', ''), builder);
        return null;
      case 'messageStart':
        return null;
      default:
        if (name === '' && typeof event['message'] === 'string') throw faults.provider(event);
        builder.notes.add('unknown_event', name);
        return null;
    }
  }

  #start(event: JsonObject): void {
    const { builder } = this;
    countUnknown(event, startFields, '', builder.notes);
    const index = integer(event, 'contentBlockIndex', '') ?? 0;
    const start = object(event, 'start', '') ?? {};
    const use = object(start, 'toolUse', 'start');
    if (use !== undefined) {
      const id = text(use, 'toolUseId', 'start.toolUse') ?? '';
      this.#blocks.set(index, builder.open('call', text(use, 'name', 'start.toolUse') ?? '', id));
      return;
    }
    const [kind] = Object.keys(start);
    if (kind === undefined) return;
    builder.other(kind, writeJson(start as Writable));
    this.#blocks.set(index, builder.slots.at(-1) as Slot);
  }

  #delta(event: JsonObject): Append | null {
    const { builder } = this;
    countUnknown(event, deltaFields, '', builder.notes);
    const index = integer(event, 'contentBlockIndex', '') ?? 0;
    const delta = object(event, 'delta', '') ?? {};
    const said = text(delta, 'text', 'delta');
    if (said !== undefined) return this.#append(index, 'text', said);
    const use = object(delta, 'toolUse', 'delta');
    if (use !== undefined) return this.#append(index, 'call', text(use, 'input', 'delta.toolUse') ?? '');
    const reasoning = object(delta, 'reasoningContent', 'delta');
    if (reasoning !== undefined) return this.#reasoning(index, reasoning);
    if (this.#blocks.get(index)?.type !== 'other')
      builder.notes.add('unknown_event', Object.keys(delta)[0] ?? 'contentBlockDelta');
    return null;
  }

  #slot(index: number, type: Slot['type']): Slot | null {
    const found = this.#blocks.get(index);
    if (found?.type === type) return found;
    // A call without a start has no name; what cannot be called is no call.
    if (found !== undefined || type === 'call') {
      this.builder.notes.add('unknown_event', 'contentBlockDelta');
      return null;
    }
    const opened = this.builder.open(type);
    this.#blocks.set(index, opened);
    return opened;
  }

  #append(index: number, type: Slot['type'], piece: string): Append | null {
    const slot = this.#slot(index, type);
    return slot === null ? null : { slot, piece };
  }

  #reasoning(index: number, reasoning: JsonObject): Append | null {
    const at = 'delta.reasoningContent';
    const slot = this.#slot(index, 'reasoning');
    if (slot === null) return null;
    slot.echo ??= {};
    const piece = text(reasoning, 'text', at);
    const add = (name: string): void => {
      const more = text(reasoning, name, at);
      const before = slot.echo?.[name];
      if (more !== undefined)
        slot.echo = { ...slot.echo, [name]: `${typeof before === 'string' ? before : ''}${more}` };
    };
    add('signature');
    add('redactedContent');
    if (piece === undefined) return null;
    if (Object.keys(reasoning).length === 1) return { slot, piece };
    this.builder.append(slot, piece);
    return null;
  }

  end(): DecodedTurn {
    const { builder } = this;
    if (builder.finish === null) throw faults.cutOff();
    return builder.turn();
  }
}

function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  const message = object(object(whole, 'output', '') ?? {}, 'message', 'output');
  if (message === undefined) {
    if (typeof whole['message'] === 'string' || whole['__type'] !== undefined) throw faults.provider(whole);
    throw faults.wrongShape('`output.message`');
  }
  const builder = new TurnBuilder(wire);
  const items = JsonSpan.of(body).member('output')?.member('message')?.member('content')?.items ?? [];
  objects(message, 'content', 'output.message').forEach((block, index) => {
    wholeBlock(builder, block, items[index], `output.message.content[${String(index)}]`);
  });
  finish(builder, whole);
  builder.usage = usageOf(object(whole, 'usage', ''), builder);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

function wholeBlock(builder: TurnBuilder, block: JsonObject, span: JsonSpan | undefined, at: string): void {
  const said = text(block, 'text', at);
  const use = object(block, 'toolUse', at);
  const reasoning = object(block, 'reasoningContent', at);
  if (said !== undefined) builder.open('text').text = said;
  else if (use !== undefined) {
    const slot = builder.open('call', text(use, 'name', at) ?? '', text(use, 'toolUseId', at) ?? '');
    slot.text = span?.member('toolUse')?.member('input')?.source ?? '';
  } else if (reasoning !== undefined) {
    const thought = object(reasoning, 'reasoningText', at);
    const slot = builder.open('reasoning');
    slot.text = (thought && text(thought, 'text', at)) ?? '';
    const echo: Record<string, JsonValue> = {};
    const signature = thought && text(thought, 'signature', at);
    const redacted = text(reasoning, 'redactedContent', at);
    if (signature !== undefined) echo['signature'] = signature;
    if (redacted !== undefined) echo['redactedContent'] = redacted;
    slot.echo = echo;
  } else builder.other(Object.keys(block)[0] ?? 'block', span?.source ?? '{}');
}

const words: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'content_filtered',
  error: 'malformed_model_output',
  other: 'end_turn',
};

function usageIn(usage: Usage): Writable {
  return {
    inputTokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    outputTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
    cacheReadInputTokens: usage.cachedInputTokens,
    cacheWriteInputTokens: usage.cacheWriteTokens,
  };
}

function encodeTurn(turn: Turn): Encoded {
  const dropped = new Dropped();
  if (turn.id !== '' || turn.model !== '') dropped.add('the turn’s id and model');
  if (turn.usage.reasoningTokens > 0) dropped.add('the count of reasoning tokens');
  const content = turn.parts.flatMap((part): readonly Writable[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'call') return [callOut(part)];
    if (part.type === 'reasoning') return [reasoningOut(part)];
    if (part.wire === wire) return [new JsonText(part.raw)];
    dropped.part(part);
    return [];
  });
  const body = writeJson({
    output: { message: { role: 'assistant', content } },
    stopReason: words[turn.finish],
    usage: usageIn(turn.usage),
    metrics: { latencyMs: 0 },
  });
  return { body, dropped: dropped.list() };
}

function streamEncoder(_head: TurnHead): StreamEncoder {
  let contentBlockIndex = -1;
  let open: TurnPart['type'] | null = null;
  const frame = (type: string, value: Writable) => awsFrame(type, writeJson(value));
  const close = (): readonly Uint8Array[] => {
    if (open === null) return [];
    open = null;
    return [frame('contentBlockStop', { contentBlockIndex })];
  };
  const delta = (value: Writable) => frame('contentBlockDelta', { contentBlockIndex, delta: value });
  const begin = (type: TurnPart['type']): readonly Uint8Array[] => {
    const before = close();
    contentBlockIndex += 1;
    open = type;
    return before;
  };
  function frames(part: TurnPart): readonly Uint8Array[] {
    switch (part.type) {
      case 'text':
        return [...(open === 'text' ? [] : begin('text')), delta({ text: part.text })];
      case 'reasoning': {
        const before = open === 'reasoning' ? [] : begin('reasoning');
        const own = echoed(part, wire) as Record<string, Writable>;
        const thought =
          part.text === '' && own['redactedContent'] !== undefined
            ? []
            : [delta({ reasoningContent: { text: part.text } })];
        const fields = Object.entries(own).map(([name, value]) => delta({ reasoningContent: { [name]: value } }));
        return [...before, ...thought, ...fields, ...(part.echo === undefined ? [] : close())];
      }
      case 'call': {
        const before = begin('call');
        const start = { toolUse: { toolUseId: part.toolCallId, name: part.name } };
        return [
          ...before,
          frame('contentBlockStart', { start, contentBlockIndex }),
          delta({ toolUse: { input: part.args } }),
          ...close(),
        ];
      }
      case 'other':
        return [];
    }
  }
  return {
    start: () => frame('messageStart', { role: 'assistant' }),
    part: (part) => Buffer.concat(frames(part)),
    end: (reason, usage) =>
      Buffer.concat([
        ...close(),
        frame('messageStop', { stopReason: words[reason] }),
        frame('metadata', { usage: usageIn(usage), metrics: { latencyMs: 0 } }),
      ]),
  };
}

/** Amazon Bedrock’s Converse. */
export const bedrock: Codec = {
  name: wire,
  contentType: 'application/vnd.amazon.eventstream',
  partsOf: wire,
  framing: 'aws',
  messagesName: 'messages',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => messagesOf(messages, new Dropped()),
  toolPlaces,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ConverseAssembler(builder),
};
