import { type JsonObject, type JsonValue } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { countUnknown, integer, object, objects, text } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Slot } from '../../turn-builder.js';
import type { DecodedTurn, Finish } from '../../types.js';
import { usageOf } from './usage.js';

const itemFields = new Set([
  ...['id', 'type', 'role', 'status', 'content', 'phase', 'call_id', 'name', 'arguments', 'namespace'],
  ...['summary', 'encrypted_content'],
]);

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
export class ResponsesAssembler implements Assembler {
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
        ...unlikeText(whole),
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

/** A thought must come back as it was: what a text of its own would be written otherwise is kept beside it. */
function unlikeText({ summary, content }: JsonObject): Record<string, JsonValue> {
  const hasContent = Array.isArray(content) && content.length > 0;
  const hasParts = Array.isArray(summary) && summary.length > 1;
  if (!hasContent && !hasParts) return {};
  return { ...(summary === undefined ? {} : { summary }), ...(hasContent ? { content } : {}) };
}

function without(event: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = event;
  return rest;
}
