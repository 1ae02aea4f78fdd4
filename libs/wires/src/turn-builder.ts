import type { JsonObject, JsonValue } from '@sluice/core';
import { Notes } from './diagnosis.js';
import { noUsage, type DecodedTurn, type Finish, type TurnPart, type Usage, type WireName } from './types.js';

/** A part of a turn while it is being written. */
export interface Slot {
  readonly type: TurnPart['type'];
  /** The text, the thought or the arguments, as far as they came; of another part, its JSON text. */
  text: string;
  toolCallId: string;
  name: string;
  /** What must come back to the provider with this part. */
  echo: Record<string, JsonValue> | null;
  /** Whether the provider said that it is complete. */
  isClosed: boolean;
}

/** One turn under assembly: its parts in the order in which they began. One builder serves one turn. */
export class TurnBuilder {
  readonly notes = new Notes();
  readonly slots: Slot[] = [];
  id = '';
  model = '';
  usage: Usage = noUsage;
  finish: Finish | null = null;
  finishAs: string | null = null;

  constructor(
    readonly wire: WireName,
    private readonly onPiece: (type: Slot['type'], piece: string) => void = () => undefined,
  ) {}

  append(slot: Slot, piece: string): void {
    slot.text += piece;
    if (piece !== '') this.onPiece(slot.type, piece);
  }

  open(type: Slot['type'], name = '', toolCallId = ''): Slot {
    const slot: Slot = { type, text: '', toolCallId, name, echo: null, isClosed: false };
    this.slots.push(slot);
    return slot;
  }

  /** A block that is kept unread. */
  other(kind: string, raw: string): void {
    this.notes.add('unknown_block', kind);
    this.open('other', kind).text = raw;
  }

  get calls(): readonly Slot[] {
    return this.slots.filter(({ type }) => type === 'call');
  }

  /**
   * The turn. Where the provider’s end and its calls contradict each other, the calls count: those of a turn that ended as an answer would are
   * calls, and an end as of calls without any is that of an answer. `saysCalls` is false on wires that have one word for both.
   */
  turn(saysCalls = true): DecodedTurn {
    const hasCalls = this.calls.length > 0;
    let finish = this.finish ?? (hasCalls ? 'calls' : 'stop');
    if (finish === 'stop' && hasCalls) {
      if (saysCalls) this.notes.add('calls_beside_stop', this.finishAs ?? '');
      finish = 'calls';
    } else if (finish === 'calls' && !hasCalls) {
      this.notes.add('finish_without_calls', this.finishAs ?? '');
      finish = 'stop';
    }
    return {
      id: this.id,
      model: this.model,
      parts: this.slots.filter(isSaid).map((slot) => partOf(slot, this.wire)),
      finish,
      finishAs: this.finishAs,
      usage: this.usage,
      notes: this.notes.list(),
    };
  }
}

/** Providers open parts that stay empty. */
function isSaid(slot: Slot): boolean {
  return slot.type === 'call' || slot.type === 'other' || slot.text !== '' || slot.echo !== null;
}

function partOf(slot: Slot, wire: WireName): TurnPart {
  const echo = slot.echo === null ? {} : { echo: { wire, fields: slot.echo as JsonObject } };
  switch (slot.type) {
    case 'text':
      return { type: 'text', text: slot.text, ...echo };
    case 'reasoning':
      return { type: 'reasoning', text: slot.text, ...echo };
    case 'call':
      return { type: 'call', toolCallId: slot.toolCallId, name: slot.name, args: argumentsOf(slot.text), ...echo };
    case 'other':
      return { type: 'other', wire, kind: slot.name, raw: slot.text };
  }
}

/** A call without arguments has none of any tool’s: an empty object. */
export function argumentsOf(written: string): string {
  return written.trim() === '' ? '{}' : written;
}
