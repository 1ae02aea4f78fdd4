import { type FrameSource, readAwsMessage } from '../stream/frames.js';
import { HeldBytes } from '../stream/held-bytes.js';

/** One event of a stream, with its bytes as they came. */
export interface RawEvent {
  readonly raw: Uint8Array;
  /** Null for what says nothing, such as a comment that keeps the connection alive. */
  readonly data: string | null;
  readonly name: string;
}

/** Cuts bytes into events, whatever the chunks that they come in. */
export interface EventSplitter {
  push(bytes: Uint8Array): readonly RawEvent[];
  /** What is left when the stream ends: an event without its blank line, or half of one. */
  end(): readonly RawEvent[];
}

export function createEventSplitter(framing: FrameSource): EventSplitter {
  return framing === 'sse' ? new ServerSentSplitter() : new AmazonSplitter();
}

const none = new Uint8Array(0);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

class ServerSentSplitter implements EventSplitter {
  private readonly held = new HeldBytes();
  /** How far the held bytes were searched, and whether a line begins there. */
  private at = 0;
  private isLineStart = true;

  push(bytes: Uint8Array): readonly RawEvent[] {
    const held = this.held.with(bytes);
    const events: RawEvent[] = [];
    let start = 0;
    let at = this.at;
    for (; at < held.length; at++) {
      const byte = held[at];
      if (byte !== lineFeed && byte !== carriageReturn) {
        this.isLineStart = false;
        continue;
      }
      if (byte === carriageReturn) {
        // Whether a line feed belongs to it, the next byte tells.
        if (at + 1 === held.length) break;
        if (held[at + 1] === lineFeed) at++;
      }
      if (this.isLineStart) {
        events.push(eventOf(held.subarray(start, at + 1)));
        start = at + 1;
      }
      this.isLineStart = true;
    }
    this.held.drop(start);
    this.at = at - start;
    return events;
  }

  end(): readonly RawEvent[] {
    return this.held.length === 0 ? [] : [eventOf(this.held.with(none))];
  }
}

const utf8 = new TextDecoder();

function eventOf(raw: Uint8Array): RawEvent {
  const data: string[] = [];
  let name = '';
  for (const line of utf8.decode(raw).split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line.startsWith('event:')) name = line.slice(6).trim();
  }
  return { raw, data: data.length === 0 ? null : data.join('\n'), name };
}

/** Amazon’s event stream: each message begins with its length. */
class AmazonSplitter implements EventSplitter {
  private readonly held = new HeldBytes();

  push(bytes: Uint8Array): readonly RawEvent[] {
    const held = this.held.with(bytes);
    const events: RawEvent[] = [];
    let at = 0;
    while (held.length - at >= 4) {
      const length = held.readUInt32BE(at);
      if (length < 16 || held.length - at < length) break;
      const raw = held.subarray(at, at + length);
      const message = readAwsMessage(raw);
      events.push({ raw, data: message?.data ?? null, name: message?.name ?? '' });
      at += length;
    }
    this.held.drop(at);
    return events;
  }

  end(): readonly RawEvent[] {
    return this.held.length === 0 ? [] : [{ raw: this.held.with(none), data: null, name: '' }];
  }
}
