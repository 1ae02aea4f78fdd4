import { isJsonObject, type JsonObject } from '@sluice/core';
import { faults, WireFault } from '../diagnosis.js';
import { TurnBuilder, type Slot } from '../turn-builder.js';
import type { DecodedTurn, WireName } from '../types.js';
import { createFrames, type FrameSource } from './frames.js';

/** Bytes of one turn that are read, at most. */
export const largestTurn = 4 << 20;

/** What an event appends that does nothing else: reading it once more would change nothing. */
export interface Append {
  readonly slot: Slot;
  readonly piece: string;
}

/**
 * The one assembler of a wire: its state is that of one stream. `event` gives back what the event appends where that is all it does; whatever
 * else an event says, the assembler writes into its builder itself.
 */
export interface Assembler {
  event(event: JsonObject, data: string, name: string): Append | null;
  /** What is no JSON, such as `[DONE]`; false where it does not know it. */
  word?(data: string): boolean;
  /** Throws WireFault where the stream ended before the turn did. */
  end(): DecodedTurn;
}

/** What a stream is read with. */
export interface StreamWire {
  /** Whose the parts are, and what must come back with them. */
  readonly partsOf: WireName;
  readonly framing: FrameSource;
  assembler(builder: TurnBuilder): Assembler;
  /** A turn that came whole. */
  decodeTurn(body: string): DecodedTurn;
}

export interface TurnListener {
  /** Pieces of the answer as they come. */
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onReasoning?: ((piece: string) => void) | undefined;
}

/** Reads one streamed turn. Throws WireFault from either method; what a listener throws passes as it is. */
export interface StreamDecoder {
  push(bytes: Uint8Array): void;
  /** The turn, once all bytes have come. */
  end(): DecodedTurn;
}

export function createStreamDecoder(wire: StreamWire, listener: TurnListener = {}): StreamDecoder {
  const builder = new TurnBuilder(wire.partsOf, (type, piece) => {
    if (type === 'text') listener.onText?.(piece);
    else if (type === 'reasoning') listener.onReasoning?.(piece);
  });
  const assembler = wire.assembler(builder);
  const repeated = new RepeatedShape();
  let left = largestTurn;
  let body: BodyReader | null = null;
  let isSniffed = false;

  const event = (data: string, name: string): void => {
    const again = repeated.match(data);
    if (again !== null) {
      builder.append(again.slot, again.piece);
      return;
    }
    repeated.forget();
    const before = builder.notes.total;
    const parsed = parseEvent(data);
    if (parsed === undefined) {
      if (assembler.word?.(data) !== true) throw faults.notJson('an event');
      return;
    }
    const appended = assembler.event(parsed, data, name);
    if (appended === null) return;
    builder.append(appended.slot, appended.piece);
    if (builder.notes.total === before) repeated.learn(data, appended, (probe) => assembler.event(probe, '', name));
  };
  const frames = createFrames(wire.framing, event);

  return {
    push(bytes) {
      left -= bytes.length;
      if (left < 0) throw faults.tooLong(largestTurn);
      if (!isSniffed) {
        const kind = sniff(bytes);
        if (kind === 'space') return;
        isSniffed = true;
        if (kind === 'html') throw faults.html();
        if (kind === 'json') body = new BodyReader();
      }
      if (body === null) frames.push(bytes);
      else body.push(bytes);
    },
    end() {
      if (body !== null) {
        builder.notes.add('whole_for_stream', '');
        return wholeTurn(wire, body.text(), builder);
      }
      frames.end();
      return assembler.end();
    },
  };
}

function wholeTurn(wire: StreamWire, text: string, builder: TurnBuilder): DecodedTurn {
  const turn = wire.decodeTurn(text);
  for (const part of turn.parts)
    if (part.type === 'text' || part.type === 'reasoning') builder.append(builder.open(part.type), part.text);
  return { ...turn, notes: [...builder.notes.list(), ...turn.notes] };
}

function parseEvent(data: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) throw faults.wrongType('an event', 'an object');
  return value;
}

/** What a body is by its first character that is no space: a page, JSON, or the stream that was asked for. */
function sniff(bytes: Uint8Array): 'html' | 'json' | 'stream' | 'space' {
  for (const byte of bytes) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    if (byte === 0x3c) return 'html';
    return byte === 0x7b || byte === 0x5b ? 'json' : 'stream';
  }
  return 'space';
}

/** Gathers a body that is no stream. */
class BodyReader {
  readonly #decoder = new TextDecoder();
  #text = '';

  push(bytes: Uint8Array): void {
    this.#text += this.#decoder.decode(bytes, { stream: true });
  }

  text(): string {
    return this.#text + this.#decoder.decode();
  }
}

/**
 * Events of one stream differ from their neighbours mostly in one text. Once an event was read of which that is known, a next one with the very
 * same characters before and behind that text needs no reading: what stands between, as long as it is one JSON string, is what it appends. Any
 * other event may change what the same characters mean, so the shape holds until then.
 */
class RepeatedShape {
  #before = '';
  #behind = '';
  #slot: Slot | null = null;
  /** Shapes learned in vain: streams in which something else changes with every event are not worth a second reading of each. */
  #attempts = 0;

  forget(): void {
    this.#slot = null;
  }

  match(data: string): Append | null {
    const slot = this.#slot;
    if (slot === null) return null;
    const [before, behind] = [this.#before, this.#behind];
    const end = data.length - behind.length;
    if (end < before.length) return null;
    // Comparing slices takes a twentieth of the time of startsWith and endsWith, which go character by character.
    if (data.slice(0, before.length) !== before || data.slice(end) !== behind) return null;
    const written = data.slice(before.length, end);
    this.#attempts = 0;
    if (plain.test(written)) return { slot, piece: written };
    try {
      return { slot, piece: JSON.parse(`"${written}"`) as string };
    } catch {
      return null;
    }
  }

  /** Remembers the event’s shape, if reading it with another text in this place appends just that. */
  learn(data: string, { slot, piece }: Append, read: (probe: JsonObject) => Append | null): void {
    if (piece === '' || this.#attempts >= 8) return;
    this.#attempts += 1;
    const written = JSON.stringify(piece);
    const at = data.lastIndexOf(written);
    if (at === -1) return;
    const before = data.slice(0, at + 1);
    const behind = data.slice(at + written.length - 1);
    const probe = parseEvent(`${before}${probeText}${behind}`);
    if (probe === undefined) return;
    let found: Append | null;
    try {
      found = read(probe);
    } catch (error) {
      if (error instanceof WireFault) return;
      throw error;
    }
    if (found?.slot !== slot || found.piece !== probeText) return;
    [this.#before, this.#behind, this.#slot] = [before, behind, slot];
  }
}

/** A text that no provider sends. */
const probeText = 'b1f0c7e2-probe-of-a-shape';

/** What stands in a JSON string as it is. */
// eslint-disable-next-line no-control-regex -- JSON escapes them in a string
const plain = /^[^"\\\u0000-\u001f]*$/;
