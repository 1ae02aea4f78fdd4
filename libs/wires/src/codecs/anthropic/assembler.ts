import { type JsonObject } from '@sluice/core';
import { errorNames, faults } from '../../diagnosis.js';
import { countUnknown, integer, object, text } from '../../json/read.js';
import { applyEdits } from '../../json/edit.js';
import { JsonSpan } from '../../json/span.js';
import { endTurn } from '../../finish.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Slot } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { usageOf } from './usage.js';

const messageFields = new Set([
  ...['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage', 'container', 'stop_details'],
  ...['context_management', 'diagnostics'],
]);

const deltaFields = new Set(['stop_reason', 'stop_sequence', 'container', 'stop_details']);

const eventFields = new Set(['type', 'message', 'index', 'content_block', 'delta', 'usage', 'context_management']);

export function throwError(event: JsonObject): void {
  const { error } = event;
  if (event['type'] !== 'error' && (error === undefined || error === null)) return;
  throw faults.provider(error, errorNames(error) === 'overloaded_error' ? 529 : undefined);
}

/** Assembles the content blocks of one message. */
export class MessagesAssembler implements Assembler {
  private readonly blocks = new Map<number, { readonly slot: Slot; readonly kind: string }>();
  /** What calls of the provider’s own tools are given, in pieces. */
  private readonly inputs = new Map<Slot, string>();
  private readonly signatures = new Map<Slot, string>();
  private hasEnded = false;

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string, name: string): Append | null {
    const { builder } = this;
    const type = text(event, 'type', '') ?? name;
    switch (type) {
      case 'content_block_delta':
        return this.delta(event);
      case 'message_start':
        this.start(object(event, 'message', '') ?? {});
        break;
      case 'content_block_start':
        this.open(event, data);
        break;
      case 'content_block_stop': {
        const block = this.blocks.get(integer(event, 'index', '') ?? 0);
        if (block !== undefined) this.close(block.slot);
        break;
      }
      case 'message_delta':
        this.messageDelta(event);
        break;
      case 'message_stop':
        this.hasEnded = true;
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
    this.ends(message, 'message');
  }

  private ends(holder: JsonObject, at: string): void {
    endTurn(this.builder, text(holder, 'stop_reason', at));
  }

  private messageDelta(event: JsonObject): void {
    const { builder } = this;
    const delta = object(event, 'delta', '') ?? {};
    countUnknown(delta, deltaFields, 'delta', builder.notes);
    this.ends(delta, 'delta');
    builder.usage = usageOf(object(event, 'usage', ''), builder.usage, builder);
  }

  private open(event: JsonObject, data: string): void {
    const block = object(event, 'content_block', '') ?? {};
    const source = () => JsonSpan.of(data).member('content_block');
    const slot = this.block(block, source, 'content_block');
    this.blocks.set(integer(event, 'index', '') ?? 0, { slot, kind: text(block, 'type', 'content_block') ?? '' });
  }

  /** A block with what it holds so far; whole, in an answer that is not streamed. */
  block(block: JsonObject, source: () => JsonSpan | undefined, at: string): Slot {
    const { builder } = this;
    const type = text(block, 'type', at) ?? '';
    switch (type) {
      case 'text': {
        const slot = builder.open('text');
        builder.begin(slot, text(block, 'text', at) ?? '');
        if (Array.isArray(block['citations']) && block['citations'].length > 0)
          builder.notes.add('unknown_field', `${at}.citations`);
        return slot;
      }
      case 'thinking': {
        const slot = builder.open('reasoning');
        builder.begin(slot, text(block, 'thinking', at) ?? '');
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
          builder.begin(slot, source()?.member('input')?.source ?? '');
        return slot;
      }
      default:
        builder.other(type, source()?.source ?? '{}');
        return builder.slots.at(-1) as Slot;
    }
  }

  private close(slot: Slot): void {
    slot.isClosed = true;
    this.builder.settle(slot);
    const input = this.inputs.get(slot);
    if (input !== undefined) slot.text = withInput(slot.text, input);
  }

  private delta(event: JsonObject): Append | null {
    const { builder } = this;
    const block = this.blocks.get(integer(event, 'index', '') ?? 0);
    const delta = object(event, 'delta', '') ?? {};
    const type = text(delta, 'type', 'delta') ?? '';
    const piece = deltaTexts[type] === undefined ? undefined : (text(delta, deltaTexts[type].field, 'delta') ?? '');
    if (block?.slot.type === 'other' && type === 'input_json_delta')
      this.inputs.set(block.slot, `${this.inputs.get(block.slot) ?? ''}${piece ?? ''}`);
    if (piece === undefined || block?.slot.type !== deltaTexts[type]?.slot || block === undefined) {
      // What belongs to a block that is not read is not read either.
      if (block?.slot.type !== 'other') builder.notes.add('unknown_event', type === '' ? 'content_block_delta' : type);
      return null;
    }
    if (type !== 'signature_delta') return { slot: block.slot, piece };
    // A signature at the start of the block is the one that the deltas write again.
    const before = this.signatures.get(block.slot) ?? '';
    this.signatures.set(block.slot, before + piece);
    block.slot.echo = { signature: before + piece };
    return null;
  }

  end(): DecodedTurn {
    const { builder } = this;
    if (builder.finish === null) {
      const isWhole = builder.slots.length > 0 && builder.slots.every(({ isClosed }) => isClosed);
      if (!this.hasEnded || !isWhole) throw faults.cutOff();
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

/** A block as it came, with the input that was written in pieces behind it; without it where that is no JSON. */
function withInput(raw: string, input: string): string {
  const block = JsonSpan.of(raw);
  const span = block.member('input');
  try {
    JSON.parse(input);
  } catch {
    return raw;
  }
  return span === undefined
    ? raw
    : applyEdits(block, [{ of: span.text, start: span.start, end: span.end, text: input }]);
}
