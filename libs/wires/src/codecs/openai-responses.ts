import { type JsonObject, type JsonValue, type ToolChoice } from '@sluice/core';
import type { Address, Codec, StreamEncoder, ToolPlaces, TurnHead } from '../codec.js';
import { faults } from '../diagnosis.js';
import { JsonText, writeJson, type Writable } from '../json/json-text.js';
import { countUnknown, integer, object, objects, text, tokens } from '../json/read.js';
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
import { Dropped, echoed } from './dropped.js';
import { parseWhole } from './parse-whole.js';
import { RequestFault, RequestReader, silent, toolOf } from './request-reader.js';

const wire = 'openai-responses';

// ---- A request.

function encodeRequest(request: WireRequest): Encoded {
  const dropped = new Dropped();
  if (request.stopSequences.length > 0) dropped.add('stop sequences');
  const body = writeJson({
    model: request.model,
    instructions: request.instructions === '' ? undefined : request.instructions,
    max_output_tokens: request.maxOutputTokens ?? undefined,
    temperature: request.temperature ?? undefined,
    top_p: request.topP ?? undefined,
    input: itemsOf(request.messages, dropped).map((item) => new JsonText(item)),
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

function choiceOf(choice: ToolChoice): Writable {
  return choice.type === 'tool' ? { type: 'function', name: choice.id } : choice.type;
}

function encodeTool({ name, description, inputSchema }: WireTool): string {
  return writeJson({
    type: 'function',
    name,
    ...(description === '' ? {} : { description }),
    parameters: inputSchema as Writable,
    strict: false,
  });
}

function itemsOf(messages: readonly Message[], dropped: Dropped): readonly string[] {
  return messages.flatMap(({ role, parts }) => {
    const items: string[] = [];
    let content: Writable[] = [];
    let beside: Record<string, Writable> = {};
    const flush = (): void => {
      if (content.length > 0) items.push(writeJson({ type: 'message', role, content, ...beside }));
      [content, beside] = [[], {}];
    };
    for (const part of parts) {
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
        items.push(writeJson({ type: 'function_call_output', call_id: part.toolCallId, output: part.text }));
      } else if (part.type === 'reasoning' && part.echo?.wire === wire) items.push(writeJson(reasoningItem(part)));
      else if (part.type === 'other' && part.wire === wire) items.push(part.raw);
      else dropped.part(part);
    }
    flush();
    return items;
  });
}

const outputText = (said: string) => ({ type: 'output_text', text: said, annotations: [] });

function callItem(part: Extract<TurnPart, { type: 'call' }>): Record<string, Writable> {
  return {
    type: 'function_call',
    call_id: part.toolCallId,
    name: part.name,
    arguments: part.args,
    ...(echoed(part, wire) as Record<string, Writable>),
  };
}

function reasoningItem(part: Extract<TurnPart, { type: 'reasoning' }>): Record<string, Writable> {
  const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
  return { type: 'reasoning', summary, ...(echoed(part, wire) as Record<string, Writable>) };
}

const held = [
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'max_output_tokens', 'temperature', 'top_p', 'stream'],
  // What this library writes itself in every request.
  ...['store', 'include'],
];

function decodeRequest(raw: string, address?: Address): DecodedRequest {
  const read = new RequestReader(raw);
  const { root } = read;
  read.holds(root, '', held);
  const input = root.member('input');
  const messages: Message[] = input?.isString
    ? [{ role: 'user', parts: [{ type: 'text', text: read.text(input, 'input') }] }]
    : joined(read.objects(input, 'input').map((item, index) => itemIn(read, item, `input[${String(index)}]`)));
  return read.decoded({
    ...silent,
    model: read.optionalText(root.member('model'), 'model') ?? address?.model ?? '',
    instructions: read.optionalText(root.member('instructions'), 'instructions') ?? '',
    messages,
    tools: toolsIn(read, root),
    toolChoice: choiceIn(read, root.member('tool_choice')),
    maxOutputTokens: read.number(root.member('max_output_tokens'), 'max_output_tokens'),
    temperature: read.number(root.member('temperature'), 'temperature'),
    topP: read.number(root.member('top_p'), 'top_p'),
    stream: read.flag(root.member('stream'), 'stream'),
  });
}

function itemIn(read: RequestReader, item: JsonSpan, at: string): Message {
  const type = read.optionalText(item.member('type'), `${at}.type`) ?? 'message';
  switch (type) {
    case 'message':
      return messageIn(read, item, at);
    case 'function_call': {
      read.holds(item, at, ['type', 'id', 'call_id', 'name', 'arguments', 'status']);
      const part: MessagePart = {
        type: 'call',
        toolCallId: read.text(item.member('call_id'), `${at}.call_id`),
        name: read.text(item.member('name'), `${at}.name`),
        args: read.optionalText(item.member('arguments'), `${at}.arguments`) ?? '{}',
        ...echoOf(item, ['id']),
      };
      return { role: 'assistant', parts: [part] };
    }
    case 'function_call_output': {
      read.holds(item, at, ['type', 'id', 'call_id', 'output', 'status']);
      const toolCallId = read.text(item.member('call_id'), `${at}.call_id`);
      const result = textOf(read, item.member('output'), `${at}.output`);
      return { role: 'user', parts: [{ type: 'result', toolCallId, name: null, text: result, isError: false }] };
    }
    case 'reasoning': {
      read.holds(item, at, ['type', 'id', 'summary', 'encrypted_content', 'status']);
      const summary = textOf(read, item.member('summary'), `${at}.summary`);
      const echo = echoOf(item, ['id', 'encrypted_content']).echo ?? { wire, fields: {} };
      return { role: 'assistant', parts: [{ type: 'reasoning', text: summary, echo }] };
    }
    default:
      // What the provider ran itself stands among what the model said.
      return {
        role: type.endsWith('_output') ? 'user' : 'assistant',
        parts: [{ type: 'other', wire, kind: type, raw: item.source }],
      };
  }
}

function messageIn(read: RequestReader, item: JsonSpan, at: string): Message {
  const role = read.text(item.member('role'), `${at}.role`);
  if (role !== 'user' && role !== 'assistant')
    return { role: 'user', parts: [{ type: 'other', wire, kind: `message ${role}`, raw: item.source }] };
  read.holds(item, at, ['type', 'role', 'content', 'id', 'status', 'phase']);
  return { role, parts: contentIn(read, item.member('content'), `${at}.content`, echoOf(item, ['id', 'phase'])) };
}

function echoOf(
  item: JsonSpan,
  names: readonly string[],
): { readonly echo?: { wire: typeof wire; fields: JsonObject } } {
  const fields: Record<string, JsonValue> = {};
  for (const name of names) {
    const value = item.member(name)?.string;
    if (value !== undefined) fields[name] = value;
  }
  return Object.keys(fields).length === 0 ? {} : { echo: { wire, fields } };
}

const textTypes = ['input_text', 'output_text', 'summary_text', 'reasoning_text', 'text'];

function contentIn(
  read: RequestReader,
  content: JsonSpan | undefined,
  at: string,
  echo: object,
): readonly MessagePart[] {
  if (content === undefined || content.isNull) return [];
  if (content.isString) return [{ type: 'text', text: read.text(content, at), ...echo }];
  return read.objects(content, at).map((part, index): MessagePart => {
    const here = `${at}[${String(index)}]`;
    const type = read.text(part.member('type'), `${here}.type`);
    if (!textTypes.includes(type)) return { type: 'other', wire, kind: `content ${type}`, raw: part.source };
    read.holds(part, here, ['type', 'text', 'annotations', 'logprobs']);
    return { type: 'text', text: read.text(part.member('text'), `${here}.text`), ...echo };
  });
}

function textOf(read: RequestReader, content: JsonSpan | undefined, at: string): string {
  return contentIn(read, content, at, {})
    .flatMap((part, index) => {
      if (part.type === 'text') return [part.text];
      read.beyond(`${at}[${String(index)}]`);
      return [];
    })
    .join('\n');
}

/** Items of one side that follow each other are one message. */
function joined(messages: readonly Message[]): Message[] {
  const turns: { role: Message['role']; parts: MessagePart[] }[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    const isMore = last?.role === role && (role === 'assistant' || last.parts.every(({ type }) => type === 'result'));
    if (isMore) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

function toolsIn(read: RequestReader, root: JsonSpan): readonly WireTool[] {
  return read.objects(root.member('tools'), 'tools').flatMap((tool, index) => {
    const at = `tools[${String(index)}]`;
    if (nameOf(tool) === null) {
      read.beyond(at);
      return [];
    }
    read.holds(tool, at, ['type', 'name', 'description', 'parameters', 'strict']);
    return [
      toolOf(
        read.text(tool.member('name'), `${at}.name`),
        read.optionalText(tool.member('description'), `${at}.description`),
        read.schema(tool.member('parameters'), `${at}.parameters`),
      ),
    ];
  });
}

function nameOf(tool: JsonSpan): string | null {
  return tool.member('type')?.string === 'function' ? (tool.member('name')?.string ?? null) : null;
}

function choiceIn(read: RequestReader, choice: JsonSpan | undefined): ToolChoice | null {
  if (choice === undefined || choice.isNull) return null;
  if (choice.isString) {
    const word = read.text(choice, 'tool_choice');
    if (word === 'auto' || word === 'none' || word === 'required') return { type: word };
    throw new RequestFault('`tool_choice` must be `auto`, `none`, `required` or an object.');
  }
  const name = nameOf(choice);
  if (name !== null) return { type: 'tool', id: name };
  read.beyond('tool_choice');
  return null;
}

function toolPlaces(root: JsonSpan): ToolPlaces {
  const tools = root.member('tools');
  return {
    lists: tools?.isArray ? [{ span: tools, names: tools.items.map(nameOf) }] : [],
    whenEmpty: [{ holder: root, names: ['tools', 'tool_choice', 'parallel_tool_calls'] }],
    holder: root,
    name: 'tools',
    wrap: (added) => `[${added.join(',')}]`,
  };
}

// ---- A turn.

const itemFields = new Set([
  ...['id', 'type', 'role', 'status', 'content', 'phase', 'call_id', 'name', 'arguments', 'namespace'],
  ...['summary', 'encrypted_content'],
]);

function usageOf(usage: JsonObject | undefined, builder: TurnBuilder): Usage {
  const { notes } = builder;
  if (usage === undefined) return builder.usage;
  return {
    inputTokens: tokens(usage, 'input_tokens', notes),
    outputTokens: tokens(usage, 'output_tokens', notes),
    cachedInputTokens: tokens(object(usage, 'input_tokens_details', 'usage'), 'cached_tokens', notes),
    cacheWriteTokens: 0,
    reasoningTokens: tokens(object(usage, 'output_tokens_details', 'usage'), 'reasoning_tokens', notes),
  };
}

/** An item under assembly, with what of it is known to be whole. */
interface Item {
  readonly slots: Slot[];
  readonly type: string;
}

/** Events that say again what deltas said, or say nothing of the turn. */
const redundant = new Set([
  ...['response.created', 'response.in_progress', 'response.queued', 'response.content_part.added'],
  ...['response.content_part.done', 'response.output_text.done', 'response.refusal.done'],
  ...['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
  ...['response.reasoning_summary_text.done', 'response.reasoning_text.done', 'keepalive'],
]);

/** Deltas by type, with the kind of part that they belong to. */
const deltas: Readonly<Record<string, Slot['type']>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'call',
};

/** Assembles the items of one response. */
class ResponsesAssembler implements Assembler {
  readonly #items = new Map<number, Item>();
  #reasoningPart = '';

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string, name: string): Append | null {
    const { builder } = this;
    const type = text(event, 'type', '') ?? name;
    const kind = deltas[type];
    if (kind !== undefined) return this.#delta(event, kind, type);
    switch (type) {
      case 'response.output_item.added':
        this.#added(event);
        return null;
      case 'response.output_item.done':
        this.#done(event, () => JsonSpan.of(data).member('item'));
        return null;
      case 'response.function_call_arguments.done':
        this.#arguments(event);
        return null;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.ends(object(event, 'response', '') ?? {}, 'response');
        return null;
      case 'error':
        throw faults.provider(object(event, 'error', '') ?? without(event, 'type'));
      default:
        if (redundant.has(type)) return null;
        builder.notes.add('unknown_event', type);
        return null;
    }
  }

  #item(event: JsonObject): Item | undefined {
    return this.#items.get(integer(event, 'output_index', '') ?? 0);
  }

  #added(event: JsonObject): void {
    const item = object(event, 'item', '') ?? {};
    this.#items.set(integer(event, 'output_index', '') ?? 0, this.#open(item, 'item'));
  }

  #open(item: JsonObject, at: string): Item {
    const { builder } = this;
    const type = text(item, 'type', at) ?? '';
    if (type === 'message' || type === 'function_call' || type === 'reasoning')
      countUnknown(item, itemFields, at, builder.notes);
    switch (type) {
      case 'message':
        return { type, slots: [] };
      case 'function_call':
        return { type, slots: [builder.open('call', text(item, 'name', at) ?? '', text(item, 'call_id', at) ?? '')] };
      case 'reasoning':
        return { type, slots: [builder.open('reasoning')] };
      default:
        builder.other(type, '{}');
        return { type, slots: [builder.slots.at(-1) as Slot] };
    }
  }

  #delta(event: JsonObject, kind: Slot['type'], type: string): Append | null {
    const { builder } = this;
    const item = this.#item(event);
    const piece = text(event, 'delta', '') ?? '';
    if (item === undefined) {
      builder.notes.add('unknown_event', type);
      return null;
    }
    if (kind !== 'text') {
      const [slot] = item.slots;
      if (slot?.type !== kind) {
        builder.notes.add('unknown_event', type);
        return null;
      }
      if (kind === 'reasoning' && this.#isNextPart(event, slot)) {
        builder.append(slot, `\n${piece}`);
        return null;
      }
      return { slot, piece };
    }
    return { slot: this.#content(item, integer(event, 'content_index', '') ?? 0), piece };
  }

  /** Parts of a summary are paragraphs. */
  #isNextPart(event: JsonObject, slot: Slot): boolean {
    const part = `${String(event['output_index'])}/${String(event['summary_index'] ?? event['content_index'])}`;
    const isNext = part !== this.#reasoningPart && slot.text !== '';
    this.#reasoningPart = part;
    return isNext;
  }

  #content(item: Item, index: number): Slot {
    while (item.slots.length <= index) item.slots.push(this.builder.open('text'));
    return item.slots[index] as Slot;
  }

  #arguments(event: JsonObject): void {
    const slot = this.#item(event)?.slots[0];
    const whole = text(event, 'arguments', '');
    if (slot?.type === 'call' && whole !== undefined && whole !== '') slot.text = whole;
  }

  /** An item as it is in the end; it says again what its deltas said, and what none of them did. */
  #done(event: JsonObject, source: () => JsonSpan | undefined): void {
    const index = integer(event, 'output_index', '') ?? 0;
    const whole = object(event, 'item', '') ?? {};
    const item = this.#items.get(index) ?? this.#open(whole, 'item');
    this.#items.set(index, item);
    this.fill(item, whole, source, 'item');
  }

  /** What a whole item holds, as far as it is not there yet. */
  fill(item: Item, whole: JsonObject, source: () => JsonSpan | undefined, at: string): void {
    const { builder } = this;
    const [first] = item.slots;
    const id = text(whole, 'id', at);
    if (item.type === 'message') {
      const phase = text(whole, 'phase', at);
      objects(whole, 'content', at).forEach((part, index) => {
        const type = text(part, 'type', `${at}.content`) ?? '';
        const said = type === 'refusal' ? text(part, 'refusal', `${at}.content`) : text(part, 'text', `${at}.content`);
        if (said === undefined) {
          builder.notes.add('unknown_block', `content.${type}`);
          return;
        }
        const slot = this.#content(item, index);
        if (slot.text === '') slot.text = said;
        if (id !== undefined) slot.echo = { id, ...(phase === undefined ? {} : { phase }) };
      });
    } else if (item.type === 'function_call' && first !== undefined) {
      const args = text(whole, 'arguments', at);
      if (args !== undefined && args !== '') first.text = args;
      if (first.name === '') first.name = text(whole, 'name', at) ?? '';
      if (first.toolCallId === '') first.toolCallId = text(whole, 'call_id', at) ?? '';
      if (id !== undefined) first.echo = { id };
    } else if (item.type === 'reasoning' && first !== undefined) {
      const texts = [...objects(whole, 'summary', at), ...objects(whole, 'content', at)].map(
        (part) => text(part, 'text', `${at}.summary`) ?? '',
      );
      if (first.text === '') first.text = texts.join('\n');
      const secret = text(whole, 'encrypted_content', at);
      first.echo = {
        ...(id === undefined ? {} : { id }),
        ...(secret === undefined ? {} : { encrypted_content: secret }),
      };
    } else if (first?.type === 'other') first.text = source()?.source ?? '{}';
  }

  /** The response as it is in the end. */
  ends(response: JsonObject, at: string): void {
    const { builder } = this;
    builder.id = text(response, 'id', at) ?? '';
    builder.model = text(response, 'model', at) ?? '';
    builder.usage = usageOf(object(response, 'usage', at), builder);
    const error = object(response, 'error', at);
    const status = text(response, 'status', at);
    if (error !== undefined || status === 'failed') throw faults.provider(error);
    if (status === undefined) return;
    const reason = text(object(response, 'incomplete_details', at) ?? {}, 'reason', `${at}.incomplete_details`);
    builder.finishAs = reason ?? status;
    builder.finish = finishOf(status, reason);
  }

  /** All items of a response that came whole. */
  whole(response: JsonObject, body: string): void {
    let items: readonly JsonSpan[] | undefined;
    objects(response, 'output', '').forEach((one, index) => {
      const at = `output[${String(index)}]`;
      const source = () => (items ??= JsonSpan.of(body).member('output')?.items ?? [])[index];
      this.fill(this.#open(one, at), one, source, at);
    });
    this.ends(response, '');
  }

  end(): DecodedTurn {
    if (this.builder.finish === null) throw faults.cutOff();
    return this.builder.turn(false);
  }
}

function finishOf(status: string, reason: string | undefined): Finish {
  if (status === 'completed') return 'stop';
  if (status === 'incomplete')
    return reason === 'content_filter' ? 'filtered' : reason === 'max_output_tokens' ? 'length' : 'other';
  return status === 'cancelled' ? 'error' : 'other';
}

function without(event: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = event;
  return rest;
}

function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  const error = object(whole, 'error', '');
  if (error !== undefined) throw faults.provider(error);
  if (!Array.isArray(whole['output'])) throw faults.wrongShape('`output`');
  const builder = new TurnBuilder(wire);
  new ResponsesAssembler(builder).whole(whole, body);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn(false);
}

function usageIn(usage: Usage): Writable {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** An item of a turn. Items have ids; one that came from another wire gets one of its place. */
function outputItem(part: TurnPart, index: number, dropped: Dropped): Writable | null {
  switch (part.type) {
    case 'text': {
      const { id = `msg_${String(index)}`, ...rest } = echoed(part, wire) as Record<string, Writable>;
      return { id, type: 'message', status: 'completed', role: 'assistant', content: [outputText(part.text)], ...rest };
    }
    case 'reasoning':
      return { id: `rs_${String(index)}`, ...reasoningItem(part) };
    case 'call':
      return { id: `fc_${String(index)}`, ...callItem(part), status: 'completed' };
    case 'other':
      if (part.wire === wire) return new JsonText(part.raw);
      dropped.part(part);
      return null;
  }
}

function responseOf(head: TurnHead, output: Writable, status: string, rest: Record<string, Writable>): Writable {
  return {
    id: head.id,
    object: 'response',
    created_at: Math.floor(head.createdAtMs / 1_000),
    status,
    error: null,
    incomplete_details: null,
    model: head.model,
    output,
    ...rest,
  };
}

function endOf(finish: Finish): { readonly status: string; readonly incomplete_details: Writable } {
  if (finish === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish === 'filtered') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  if (finish === 'error') return { status: 'cancelled', incomplete_details: null };
  return { status: 'completed', incomplete_details: null };
}

function encodeTurn(turn: Turn, createdAtMs: number): Encoded {
  const dropped = new Dropped();
  if (turn.usage.cacheWriteTokens > 0) dropped.add('tokens written to a cache');
  const output = turn.parts.flatMap((part, index) => outputItem(part, index, dropped) ?? []);
  const { status, incomplete_details } = endOf(turn.finish);
  const head = { id: turn.id, model: turn.model, createdAtMs };
  const body = writeJson(responseOf(head, output, status, { incomplete_details, usage: usageIn(turn.usage) }));
  return { body, dropped: dropped.list() };
}

function streamEncoder(head: TurnHead): StreamEncoder {
  let sequence = 0;
  let index = -1;
  let open: { readonly type: 'text' | 'reasoning'; readonly id: string; text: string } | null = null;
  const output: Writable[] = [];
  const event = (type: string, rest: Record<string, Writable>) =>
    sseFrame(writeJson({ type, sequence_number: sequence++, ...rest }), type);
  const item = (type: 'added' | 'done', value: Writable) =>
    event(`response.output_item.${type}`, { output_index: index, item: value });
  const of = (id: string) => ({ item_id: id, output_index: index, content_index: 0 });

  function close(): readonly Uint8Array[] {
    if (open === null) return [];
    const { type, id, text: said } = open;
    open = null;
    if (type === 'reasoning') {
      const whole = { id, type, summary: [{ type: 'summary_text', text: said }] };
      output.push(whole);
      return [item('done', whole)];
    }
    const part = outputText(said);
    const whole = { id, type: 'message', status: 'completed', role: 'assistant', content: [part] };
    output.push(whole);
    return [
      event('response.output_text.done', { ...of(id), text: said }),
      event('response.content_part.done', { ...of(id), part }),
      item('done', whole),
    ];
  }
  function begin(): readonly Uint8Array[] {
    const before = close();
    index += 1;
    return before;
  }
  function whole(value: Writable, added: Writable, between: readonly Uint8Array[] = []): readonly Uint8Array[] {
    output.push(value);
    return [item('added', added), ...between, item('done', value)];
  }
  function pieces(part: Extract<TurnPart, { type: 'text' | 'reasoning' }>): readonly Uint8Array[] {
    const before: Uint8Array[] = [];
    if (open?.type !== part.type) {
      before.push(...begin());
      const id = `${part.type === 'text' ? 'msg' : 'rs'}_${String(index)}`;
      open = { type: part.type, id, text: '' };
      if (part.type === 'text') {
        before.push(item('added', { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] }));
        before.push(event('response.content_part.added', { ...of(id), part: outputText('') }));
      } else before.push(item('added', { id, type: 'reasoning', summary: [] }));
    }
    const { id } = open;
    open.text += part.text;
    const delta =
      part.type === 'text'
        ? event('response.output_text.delta', { ...of(id), delta: part.text })
        : event('response.reasoning_summary_text.delta', {
            item_id: id,
            output_index: index,
            summary_index: 0,
            delta: part.text,
          });
    return [...before, delta];
  }
  function frames(part: TurnPart): readonly Uint8Array[] {
    // A part with what must come back is complete as it is.
    if ((part.type === 'text' || part.type === 'reasoning') && part.echo?.wire !== wire) return pieces(part);
    const before = begin();
    const value = outputItem(part, index, new Dropped());
    if (value === null) return before;
    if (part.type !== 'call') return [...before, ...whole(value, value)];
    const id = (value as { readonly id: string }).id;
    const argumentsDelta = event('response.function_call_arguments.delta', {
      item_id: id,
      output_index: index,
      delta: part.args,
    });
    const argumentsDone = event('response.function_call_arguments.done', {
      item_id: id,
      output_index: index,
      arguments: part.args,
    });
    const added = { ...(value as Record<string, Writable>), arguments: '', status: 'in_progress' };
    return [...before, ...whole(value, added, [argumentsDelta, argumentsDone])];
  }
  return {
    start: () => event('response.created', { response: responseOf(head, [], 'in_progress', {}) }),
    part: (part) => Buffer.concat(frames(part)),
    end(finish, usage) {
      const before = close();
      const { status, incomplete_details } = endOf(finish);
      const response = responseOf(head, output, status, { incomplete_details, usage: usageIn(usage) });
      return Buffer.concat([...before, event(`response.${status === 'cancelled' ? 'failed' : status}`, { response })]);
    },
  };
}

/** OpenAI’s Responses. */
export const openaiResponses: Codec = {
  name: wire,
  contentType: 'text/event-stream',
  partsOf: wire,
  framing: 'sse',
  messagesName: 'input',
  encodeRequest,
  decodeRequest,
  encodeTool,
  encodeMessages: (messages) => itemsOf(messages, new Dropped()),
  toolPlaces,
  encodeTurn,
  decodeTurn,
  streamEncoder,
  assembler: (builder) => new ResponsesAssembler(builder),
};
