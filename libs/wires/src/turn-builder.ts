import { isJsonText } from '@sluice/core';
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
  /** What stood at its beginning, until its deltas tell whether they say that again. */
  begun: string | null;
  /** What its deltas said meanwhile. */
  held: string;
  /** A commentary on the way to the answer, which is not streamed. */
  isAside: boolean;
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
    if (piece === '') return;
    if (slot.begun !== null) {
      this.appendBehind(slot, slot.begun, piece);
      return;
    }
    slot.text += piece;
    if (!slot.isAside) this.onPiece(slot.type, piece);
  }

  /** A part with what it holds as it begins: all of it, its first piece, or what its deltas say again. */
  begin(slot: Slot, text: string): void {
    if (text !== '') slot.begun = text;
  }

  /** Deltas of arguments are all of them. Those of a text go on behind its beginning, or say it again. */
  private appendBehind(slot: Slot, begun: string, piece: string): void {
    slot.held += piece;
    if (slot.type !== 'call' && begun.length > slot.held.length && begun.startsWith(slot.held)) return;
    const isAgain = slot.type === 'call' || slot.held.startsWith(begun);
    const said = isAgain ? slot.held : begun + slot.held;
    slot.begun = null;
    slot.held = '';
    this.append(slot, said);
  }

  /** No more deltas come of the part. */
  settle(slot: Slot): void {
    const { begun, held } = slot;
    if (begun === null) return;
    slot.begun = null;
    slot.held = '';
    this.append(slot, begun + held);
  }

  /**
   * What a part is in the end, as its provider says it again. Of a text that adds what no delta said: what was said
   * stays, since it was streamed. Arguments are what was said last, and none at all are no reason to forget those
   * that came.
   */
  whole(slot: Slot, text: string): void {
    this.settle(slot);
    if (slot.type === 'call') {
      if (slot.text === '' || !isNoArguments(text)) slot.text = text;
    } else if (text.startsWith(slot.text)) this.append(slot, text.slice(slot.text.length));
  }

  open(type: Slot['type'], name = '', toolCallId = ''): Slot {
    const slot: Slot = {
      type,
      text: '',
      toolCallId,
      name,
      echo: null,
      isClosed: false,
      begun: null,
      held: '',
      isAside: false,
    };
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
   * The turn. Where the provider’s end and its calls contradict each other, the calls count: those of a turn that
   * ended as an answer would are calls, and an end as of calls without any is that of an answer. `saysCalls` is false
   * on wires that have one word for both.
   */
  turn(saysCalls = true): DecodedTurn {
    for (const slot of this.slots) this.settle(slot);
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
      parts: this.slots.filter(isSaid).map((slot) => this.part(slot)),
      finish,
      finishAs: this.finishAs,
      usage: this.usage,
      notes: this.notes.list(),
    };
  }

  private part(slot: Slot): TurnPart {
    const once = slot.type === 'call' ? saidOnce(slot.text) : null;
    if (once === null) return partOf(slot, this.wire);
    this.notes.add('repeated_arguments', slot.name);
    return partOf({ ...slot, text: once }, this.wire);
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
function argumentsOf(written: string): string {
  return written.trim() === '' ? '{}' : written;
}

function isNoArguments(written: string): boolean {
  return /^\s*(?:\{\s*\}\s*)?$/.test(written);
}

/** Arguments that a server wrote twice, or beside an empty object, once; null for any others. */
function saidOnce(written: string): string | null {
  const text = written.trim();
  if (!text.startsWith('{') || isJsonText(text)) return null;
  const half = text.slice(0, text.length / 2).trim();
  const single = half + half === text ? half : text.replace(/^\{\s*\}\s*(?=\{)|(?<=\})\s*\{\s*\}$/, '');
  return single !== text && isJsonText(single) ? single : null;
}
