import { EventStreamCodec } from '@smithy/eventstream-codec';
import { createParser } from 'eventsource-parser';
import { faults } from '../diagnosis.js';
import { HeldBytes } from './held-bytes.js';

/** How a wire puts events into bytes: server-sent events, or Amazon’s event stream. */
export type FrameSource = 'sse' | 'aws' | 'aws-chunks';

/** Takes bytes cut anywhere, and gives each event’s data and name on. */
interface Frames {
  push(bytes: Uint8Array): void;
  end(): void;
}

export function createFrames(source: FrameSource, onEvent: (data: string, name: string) => void): Frames {
  return source === 'sse' ? serverSentEvents(onEvent) : amazonEvents(onEvent, source === 'aws-chunks');
}

function serverSentEvents(onEvent: (data: string, name: string) => void): Frames {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data, event }) => {
      onEvent(data, event ?? '');
    },
  });
  return {
    push(bytes) {
      const piece = decoder.decode(bytes, { stream: true });
      if (piece !== '') parser.feed(piece);
    },
    end() {
      // A last event without its blank line is whole if its line is: some servers close the connection instead.
      parser.feed(`${decoder.decode()}\n\n`);
    },
  };
}

const utf8 = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : utf8.decode(bytes)),
  (text) => encoder.encode(text),
);

/** Bytes of a message, at most: what Amazon’s own limit is. */
const largestMessage = 16 << 20;

/**
 * Messages of lengths, checksums, headers and a JSON payload; where `areChunks`, the payload holds the event as
 * base64.
 */
function amazonEvents(onEvent: (data: string, name: string) => void, areChunks: boolean): Frames {
  const kept = new HeldBytes();
  return {
    push(bytes) {
      const held = kept.with(bytes);
      let at = 0;
      while (held.length - at >= 4) {
        const length = held.readUInt32BE(at);
        if (length < 16 || length > largestMessage) throw faults.damaged();
        if (held.length - at < length) break;
        const { name, data } = messageOf(held.subarray(at, at + length));
        at += length;
        if (areChunks && name === 'chunk') onEvent(chunkOf(data), '');
        else onEvent(data, name);
      }
      kept.drop(at);
    },
    end() {
      if (kept.length > 0) throw faults.cutOff();
    },
  };
}

function messageOf(bytes: Uint8Array): { readonly name: string; readonly data: string } {
  let message: ReturnType<typeof codec.decode>;
  try {
    message = codec.decode(bytes);
  } catch {
    throw faults.damaged();
  }
  const header = (name: string): string => {
    const found = message.headers[name]?.value;
    return typeof found === 'string' ? found : '';
  };
  const data = utf8.decode(message.body);
  switch (header(':message-type')) {
    case 'exception':
      throw faults.provider(
        { type: header(':exception-type'), message: messageIn(data) },
        exceptionStatus[header(':exception-type')],
      );
    case 'error':
      throw faults.provider({ type: header(':error-code'), message: header(':error-message') });
    default:
      return { name: header(':event-type'), data };
  }
}

function messageIn(data: string): unknown {
  try {
    return (JSON.parse(data) as { readonly message?: unknown } | null)?.message;
  } catch {
    return undefined;
  }
}

/** What HTTP would have said. */
const exceptionStatus: Readonly<Record<string, number>> = {
  internalServerException: 500,
  modelStreamErrorException: 424,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
};

function chunkOf(data: string): string {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw faults.notJson('an event');
  }
  const bytes = (chunk as Readonly<Record<string, unknown>> | null)?.['bytes'];
  if (typeof bytes !== 'string') throw faults.wrongType('`bytes`', 'a text');
  return Buffer.from(bytes, 'base64').toString('utf8');
}

/**
 * A server-sent event; JSON with line breaks, such as arguments that a model wrote over several, goes on several
 * lines of data.
 */
export function sseFrame(data: string, event?: string): Uint8Array {
  const lines = /[\r\n]/.test(data) ? data.replace(/\r\n|\r|\n/g, '\ndata: ') : data;
  return encoder.encode(`${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`);
}

/** A message of Amazon’s event stream. */
export function awsFrame(type: string, data: string): Uint8Array {
  const text = (value: string) => ({ type: 'string' as const, value });
  return codec.encode({
    headers: { ':event-type': text(type), ':content-type': text('application/json'), ':message-type': text('event') },
    body: encoder.encode(data),
  });
}

/** A message of Amazon’s event stream that says what went wrong. */
export function awsErrorFrame(exception: string, data: string): Uint8Array {
  const text = (value: string) => ({ type: 'string' as const, value });
  return codec.encode({
    headers: {
      ':exception-type': text(exception),
      ':content-type': text('application/json'),
      ':message-type': text('exception'),
    },
    body: encoder.encode(data),
  });
}

/** The event of a message of Amazon’s event stream, its chunk unpacked; null for an error, or what is no event. */
export function readAwsMessage(bytes: Uint8Array): { readonly name: string; readonly data: string } | null {
  try {
    const { name, data } = messageOf(bytes);
    return name === 'chunk' ? { name: '', data: chunkOf(data) } : { name, data };
  } catch {
    return null;
  }
}
