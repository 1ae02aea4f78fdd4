import type { JsonObject } from '@sluice/core';
import { faults } from '../diagnosis.js';
import { TurnBuilder } from '../turn-builder.js';
import type { DecodedTurn, WireName } from '../types.js';
import { type Append, parseEvent, RepeatedShape } from './repeated-shape.js';
import { createFrames, type FrameSource } from './frames.js';

/** Bytes of one turn that are read, at most. */
export const largestTurn = 4 << 20;

/**
 * The one assembler of a wire: its state is that of one stream. `event` gives back what the event appends where that
 * is all it does; whatever else an event says, the assembler writes into its builder itself.
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

export function createStreamDecoder(
  wire: StreamWire,
  listener: TurnListener = {},
  largest = largestTurn,
): StreamDecoder {
  const builder = new TurnBuilder(wire.partsOf, (type, piece) => {
    if (type === 'text') listener.onText?.(piece);
    else if (type === 'reasoning') listener.onReasoning?.(piece);
  });
  const assembler = wire.assembler(builder);
  const repeated = new RepeatedShape();
  let left = largest;
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
      if (left < 0) throw faults.tooLong(largest);
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
    if ((part.type === 'text' || part.type === 'reasoning') && part.echo?.fields['phase'] !== 'commentary')
      builder.append(builder.open(part.type), part.text);
  return { ...turn, notes: [...builder.notes.list(), ...turn.notes] };
}

/**
 * What a body is by its first character that is neither space nor a byte order mark: a page, JSON, or the stream that
 * was asked for.
 */
function sniff(bytes: Uint8Array): 'html' | 'json' | 'stream' | 'space' {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  for (const byte of hasMark ? bytes.subarray(3) : bytes) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    if (byte === 0x3c) return 'html';
    return byte === 0x7b || byte === 0x5b ? 'json' : 'stream';
  }
  return 'space';
}

/** Gathers a body that is no stream. */
class BodyReader {
  private readonly decoder = new TextDecoder();
  private _text = '';

  push(bytes: Uint8Array): void {
    this._text += this.decoder.decode(bytes, { stream: true });
  }

  text(): string {
    return this._text + this.decoder.decode();
  }
}
