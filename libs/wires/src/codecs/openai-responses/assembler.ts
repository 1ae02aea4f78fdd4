import { type JsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { countUnknown, integer, object, objects, text } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import { endTurn, finishOf } from '../../finish.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import type { Slot, TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { deltas, itemFields, itemTypes, partOfReasoning, redundant, wholes } from './events.js';
import { type Item, Items, unlikeText } from './items.js';
import { usageOf } from './usage.js';
import { commentary, wire } from './wire.js';

/** Assembles the items of one response. */
export class ResponsesAssembler implements Assembler {
  private readonly items = new Items();
  private reasoningPart = '';
  /** Parts of reasoning of which something came. */
  private readonly reasoned = new Set<string>();

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string, name: string): Append | null {
    const { builder } = this;
    const type = text(event, 'type', '') ?? name;
    const kind = deltas[type];
    if (kind !== undefined) return this.delta(event, kind, type);
    const whole = wholes[type];
    if (whole !== undefined) {
      this._whole(event, ...whole, type);
      return null;
    }
    switch (type) {
      case 'response.output_item.added':
        this.added(event);
        return null;
      case 'response.output_item.done':
        this.done(event, () => JsonSpan.of(data).member('item'));
        return null;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.completed(object(event, 'response', '') ?? {}, () => JsonSpan.of(data).member('response'));
        this.ends(object(event, 'response', '') ?? {}, 'response', type.slice('response.'.length));
        return null;
      case 'error':
        throw faults.provider(object(event, 'error', '') ?? without(event, 'type'));
      default:
        if (redundant.has(type)) return null;
        builder.notes.add('unknown_event', type);
        return null;
    }
  }

  /** The item that an event is about; one that was not announced begins. */
  private item(event: JsonObject, type: string): Item {
    const id = text(event, 'item_id', '') ?? '';
    return this.items.at(this.items.placeOf(event, { id, type }), () =>
      this.open({ type, ...(id === '' ? {} : { id }) }, 'item'),
    );
  }

  private added(event: JsonObject): void {
    const item = object(event, 'item', '') ?? {};
    this.items.add(event, this.open(item, 'item'));
  }

  private open(item: JsonObject, at: string): Item {
    const { builder } = this;
    const type = text(item, 'type', at) ?? '';
    const id = text(item, 'id', at) ?? '';
    if (type === 'message' || type === 'function_call' || type === 'reasoning')
      countUnknown(item, itemFields, at, builder.notes);
    switch (type) {
      case 'message':
        return { type, id, slots: [], isCommentary: text(item, 'phase', at) === commentary };
      case 'function_call':
        return {
          ...{ type, id },
          slots: [builder.open('call', text(item, 'name', at) ?? '', text(item, 'call_id', at) ?? '')],
        };
      case 'reasoning':
        return { type, id, slots: [builder.open('reasoning')] };
      default:
        builder.other(type, '{}');
        return { type, id, slots: [builder.slots.at(-1) as Slot] };
    }
  }

  private delta(event: JsonObject, kind: Slot['type'], type: string): Append | null {
    const { builder } = this;
    const item = this.item(event, itemTypes[kind]);
    const piece = text(event, 'delta', '') ?? '';
    if (item.type !== itemTypes[kind]) {
      builder.notes.add('unknown_event', type);
      return null;
    }
    if (kind !== 'text') {
      const [slot] = item.slots;
      if (slot === undefined) return null;
      if (kind === 'reasoning' && this.isNextPart(event, slot)) {
        builder.append(slot, `\n${piece}`);
        return null;
      }
      return { slot, piece };
    }
    return { slot: this.content(item, integer(event, 'content_index', '') ?? 0), piece };
  }

  /** Parts of a summary are paragraphs. */
  private isNextPart(event: JsonObject, slot: Slot): boolean {
    const part = partOfReasoning(event);
    this.reasoned.add(part);
    const isNext = part !== this.reasoningPart && slot.text !== '';
    this.reasoningPart = part;
    return isNext;
  }

  private content(item: Item, index: number): Slot {
    while (item.slots.length <= index) {
      const slot = this.builder.open('text');
      slot.isAside = item.isCommentary === true;
      item.slots.push(slot);
    }
    return item.slots[index] as Slot;
  }

  /** A part as it is in the end, of which there may have been no delta. */
  private _whole(event: JsonObject, kind: Slot['type'], field: string, type: string): void {
    const { builder } = this;
    const said = text(event, field, '');
    if (said === undefined || said === '') return;
    const item = this.item(event, itemTypes[kind]);
    const [first] = item.slots;
    if (item.type !== itemTypes[kind]) builder.notes.add('unknown_event', type);
    else if (kind === 'text') builder.whole(this.content(item, integer(event, 'content_index', '') ?? 0), said);
    else if (first !== undefined && kind === 'call') builder.whole(first, said);
    else if (first !== undefined && !this.reasoned.has(partOfReasoning(event)))
      builder.append(first, this.isNextPart(event, first) ? `\n${said}` : said);
  }

  /** An item as it is in the end; it says again what its deltas said, and what none of them did. */
  private done(event: JsonObject, source: () => JsonSpan | undefined): void {
    const whole = object(event, 'item', '') ?? {};
    const [id = '', type = '', callId = ''] = ['id', 'type', 'call_id'].map((name) => text(whole, name, 'item'));
    const place = this.items.placeOf(event, { id, type, callId });
    const item = this.items.at(place, () => this.open(whole, 'item'));
    this.fill(item, whole, source, 'item');
    this.items.finish(item);
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
        const slot = this.content(item, index);
        builder.whole(slot, said);
        if (id !== undefined) slot.echo = { id, ...(phase === undefined ? {} : { phase }) };
      });
    } else if (item.type === 'function_call' && first !== undefined) {
      const args = text(whole, 'arguments', at);
      if (args !== undefined) builder.whole(first, args);
      if (first.name === '') first.name = text(whole, 'name', at) ?? '';
      if (first.toolCallId === '') first.toolCallId = text(whole, 'call_id', at) ?? '';
      if (id !== undefined) first.echo = { id };
    } else if (item.type === 'reasoning' && first !== undefined) {
      const texts = [...objects(whole, 'summary', at), ...objects(whole, 'content', at)].map(
        (part) => text(part, 'text', `${at}.summary`) ?? '',
      );
      if (first.text === '') builder.append(first, texts.join('\n'));
      const secret = text(whole, 'encrypted_content', at);
      first.echo = {
        ...first.echo,
        ...(id === undefined ? {} : { id }),
        ...(secret === undefined ? {} : { encrypted_content: secret }),
        ...unlikeText(whole),
      };
    } else if (first?.type === 'other') first.text = source()?.source ?? first.text;
  }

  /**
   * Reads the items of the response as it is in the end into those that came before: the one of the same id, or else
   * the next of its kind. Some servers say there what they said nowhere else, and some leave out there what they said
   * before.
   */
  private completed(response: JsonObject, source: () => JsonSpan | undefined): void {
    const before = this.items.counterparts();
    let items: readonly JsonSpan[] | undefined;
    objects(response, 'output', 'response').forEach((whole, index) => {
      const at = `response.output[${String(index)}]`;
      const [id, type] = [text(whole, 'id', at) ?? '', text(whole, 'type', at) ?? ''];
      const item = before(id, type, text(whole, 'name', at) ?? '') ?? this.open(whole, at);
      this.fill(item, whole, () => (items ??= source()?.member('output')?.items ?? [])[index], at);
    });
  }

  /** The response as it is in the end; `as` is the status that its event names. */
  ends(response: JsonObject, at: string, as?: string): void {
    const { builder } = this;
    builder.id = text(response, 'id', at) ?? '';
    builder.model = text(response, 'model', at) ?? '';
    builder.usage = usageOf(object(response, 'usage', at), builder);
    const error = object(response, 'error', at);
    const status = text(response, 'status', at) ?? as;
    if (error !== undefined || status === 'failed') throw faults.provider(error);
    if (status === undefined) return;
    const reason = text(object(response, 'incomplete_details', at) ?? {}, 'reason', `${at}.incomplete_details`);
    const isCut = status === 'incomplete';
    const meaning = finishOf(wire, isCut ? (reason ?? status) : status);
    // What is cut is no whole turn, whatever the reason is called.
    endTurn(builder, reason ?? status, isCut && (meaning === 'stop' || meaning === 'calls') ? 'other' : meaning);
  }

  /** All items of a response that came whole. */
  whole(response: JsonObject, body: string): void {
    let items: readonly JsonSpan[] | undefined;
    objects(response, 'output', '').forEach((one, index) => {
      const at = `output[${String(index)}]`;
      const source = () => (items ??= JsonSpan.of(body).member('output')?.items ?? [])[index];
      this.fill(this.open(one, at), one, source, at);
    });
    this.ends(response, '');
  }

  end(): DecodedTurn {
    if (this.builder.finish === null) throw faults.cutOff();
    return this.builder.turn(false);
  }
}

function without(event: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = event;
  return rest;
}
