import { isJsonObject, type JsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { writeJson, type Writable } from '../../json/json-text.js';
import { countUnknown, integer, object, text } from '../../json/read.js';
import { endTurn } from '../../finish.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Slot } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { usageOf } from './usage.js';

const startFields = new Set(['start', 'contentBlockIndex', 'p']);

const deltaFields = new Set(['delta', 'contentBlockIndex', 'p']);

/** Assembles the content blocks of one message; a block of text has no start of its own. */
export class ConverseAssembler implements Assembler {
  private readonly blocks = new Map<number, Slot>();

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, _data: string, name: string): Append | null {
    const { builder } = this;
    switch (name) {
      case 'contentBlockDelta':
        return this.delta(event);
      case 'contentBlockStart':
        this.start(event);
        return null;
      case 'contentBlockStop': {
        const slot = this.blocks.get(integer(event, 'contentBlockIndex', '') ?? 0);
        if (slot !== undefined) slot.isClosed = true;
        if (slot !== undefined) builder.settle(slot);
        return null;
      }
      case 'messageStop':
        endTurn(builder, text(event, 'stopReason', ''));
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

  private start(event: JsonObject): void {
    const { builder } = this;
    countUnknown(event, startFields, '', builder.notes);
    const index = integer(event, 'contentBlockIndex', '') ?? 0;
    const start = object(event, 'start', '') ?? {};
    const use = object(start, 'toolUse', 'start');
    if (use !== undefined) {
      const id = text(use, 'toolUseId', 'start.toolUse') ?? '';
      const slot = builder.open('call', text(use, 'name', 'start.toolUse') ?? '', id);
      this.blocks.set(index, slot);
      // Servers that imitate the wire may give a call whole.
      builder.begin(slot, inputIn(use, 'start.toolUse'));
      return;
    }
    const said = text(start, 'text', 'start');
    if (said !== undefined) {
      const slot = builder.open('text');
      this.blocks.set(index, slot);
      builder.begin(slot, said);
      return;
    }
    const [kind] = Object.keys(start);
    if (kind === undefined) return;
    builder.other(kind, writeJson(start as Writable));
    this.blocks.set(index, builder.slots.at(-1) as Slot);
  }

  private delta(event: JsonObject): Append | null {
    const { builder } = this;
    countUnknown(event, deltaFields, '', builder.notes);
    const index = integer(event, 'contentBlockIndex', '') ?? 0;
    const delta = object(event, 'delta', '') ?? {};
    const said = text(delta, 'text', 'delta');
    if (said !== undefined) return this.append(index, 'text', said);
    const use = object(delta, 'toolUse', 'delta');
    if (use !== undefined) return this.append(index, 'call', inputIn(use, 'delta.toolUse'));
    const reasoning = object(delta, 'reasoningContent', 'delta');
    if (reasoning !== undefined) return this.reasoning(index, reasoning);
    if (this.blocks.get(index)?.type !== 'other')
      builder.notes.add('unknown_event', Object.keys(delta)[0] ?? 'contentBlockDelta');
    return null;
  }

  private slot(index: number, type: Slot['type']): Slot | null {
    const found = this.blocks.get(index);
    if (found?.type === type) return found;
    // A call without a start has no name; what cannot be called is no call.
    if (found !== undefined || type === 'call') {
      this.builder.notes.add('unknown_event', 'contentBlockDelta');
      return null;
    }
    const opened = this.builder.open(type);
    this.blocks.set(index, opened);
    return opened;
  }

  private append(index: number, type: Slot['type'], piece: string): Append | null {
    const slot = this.slot(index, type);
    return slot === null ? null : { slot, piece };
  }

  private reasoning(index: number, reasoning: JsonObject): Append | null {
    const at = 'delta.reasoningContent';
    const slot = this.slot(index, 'reasoning');
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

/** Some servers send the input as the object that it is. */
function inputIn(use: JsonObject, at: string): string {
  const given = use['input'];
  return isJsonObject(given) ? writeJson(given as Writable) : (text(use, 'input', at) ?? '');
}
