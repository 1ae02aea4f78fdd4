import { createParser } from 'eventsource-parser';
import type { Dispatcher, request as Request } from 'undici';
import { parseExactJson } from '@sluice/core';
import { withoutNullMeta } from './message.js';

/** Bytes of one message from a server: of a body of JSON, or of one event of a stream. As over stdio. */
export const messageBytesByDefault = 10_485_760;

const newLine = 0x0a;
const carriageReturn = 0x0d;

/** Of a body without a reader, in bytes and milliseconds. */
const leftOverBytes = 65_536;
const leftOverMs = 1_000;

/** Unless the caller says otherwise; the names in lower case, as Headers gives them. */
const always = { 'user-agent': 'sluice', 'accept-encoding': 'identity' };

const nothing = (): void => undefined;

/** What a fetch is asked for; the SDK asks for nothing else. */
export interface FetchRequest {
  readonly method?: string;
  readonly headers?: Iterable<[string, string]>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

interface BoundedBy {
  /** Of one message, in bytes. */
  readonly messageBytes: number;
  /** Called before the body fails; `inEvents` if it is a stream of events. */
  onTooLarge(inEvents: boolean): void;
  /** Called with the data of each event of a stream, before its reader sees the event. */
  onEvent(data: string): void;
  /** Called once, when the body has ended in whatever way. */
  onEnd(): void;
}

export class TooLargeAnswer extends Error {
  override readonly name = 'TooLargeAnswer';
}

let loaded: Promise<{ readonly request: typeof Request }> | undefined;

/**
 * Loaded when it is wanted: an executor without a server on HTTP does without its three megabytes. Once, since each
 * import copies what the module exports.
 */
const undici = (): NonNullable<typeof loaded> => (loaded ??= import('undici'));

/**
 * Like fetch, for an SDK that wants a function like it: with what it uses of a Response, and with a body that fails
 * as soon as one message in it is too large, so that no more of it is ever held. fetch itself, with a stream of ours
 * over its own, costs as much again as all else of a call. Nothing packed is asked for, and what is packed all the
 * same is refused: it may hold any size.
 */
export async function ask(url: string | URL, asked: FetchRequest, given: BoundedBy): Promise<Response> {
  const { method = 'GET', headers = [], body = null, signal = null } = asked;
  // The caller has limits of time of its own.
  const options = {
    headers: { ...always, ...Object.fromEntries(headers) },
    body,
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  try {
    const { request } = await undici();
    const answer = await request(url, { ...options, method: method as Dispatcher.HttpMethod });
    return new Answer(answer, given).unpacked() as unknown as Response;
  } catch (error) {
    given.onEnd();
    if (error instanceof TooLargeAnswer) throw error;
    if (signal?.aborted === true) throw error;
    throw new TypeError('the request failed', { cause: error });
  }
}

class Answer {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  private stream: ReadableStream<Uint8Array> | undefined;
  private readonly isEvents: boolean;

  constructor(
    private readonly answer: Dispatcher.ResponseData,
    private readonly given: BoundedBy,
  ) {
    const { statusCode, statusText, headers, body } = answer;
    this.status = statusCode;
    this.statusText = statusText;
    this.ok = statusCode >= 200 && statusCode <= 299;
    this.headers = { get: (name) => [headers[name.toLowerCase()] ?? []].flat().join(', ') || null };
    this.isEvents = this.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
    body.once('close', () => given.onEnd());
    // A reader gets the error; often there is none.
    body.on('error', nothing);
  }

  /** The answer itself; throws if it is packed. */
  unpacked(): this {
    const packed = this.headers.get('content-encoding') ?? 'identity';
    if (packed === 'identity') return this;
    const error = new TooLargeAnswer(`The answer is packed (${packed}), which was not requested.`);
    this.answer.body.destroy(error);
    throw error;
  }

  /** For a stream of events; it is read no further ahead than its reader is. */
  get body(): ReadableStream<Uint8Array> {
    return (this.stream ??= this.streamed());
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    const check = this.check();
    for await (const chunk of this.answer.body as AsyncIterable<Buffer>) chunks.push(check(chunk));
    return new TextDecoder().decode(Buffer.concat(chunks));
  }

  async json(): Promise<unknown> {
    return withoutNullMeta(parseExactJson(await this.text()));
  }

  private streamed(): ReadableStream<Uint8Array> {
    const { body } = this.answer;
    const check = this.check();
    const text = new TextDecoder();
    const events = createParser({ onEvent: ({ data }) => this.given.onEvent(data) });
    let wanted = true;
    return new ReadableStream({
      start: (controller) => {
        body.on('data', (chunk: Buffer) => {
          if (!wanted) return;
          try {
            const within = check(chunk);
            events.feed(text.decode(within, { stream: true }));
            controller.enqueue(within);
            if ((controller.desiredSize ?? 0) <= 0) body.pause();
          } catch (error) {
            body.destroy(error as Error);
          }
        });
        body.once('end', () => wanted && controller.close());
        body.once('error', (error) => wanted && controller.error(error));
      },
      pull: () => void body.resume(),
      // What little is left is read, so that the connection can be used again.
      cancel: () => {
        wanted = false;
        return body.dump({ limit: leftOverBytes, signal: AbortSignal.timeout(leftOverMs) }).then(nothing, nothing);
      },
    });
  }

  /** Passes chunks on for as long as no message is too large. */
  private check(): (chunk: Buffer) => Buffer {
    const { messageBytes } = this.given;
    const isWithin = this.isEvents ? withinEvents(messageBytes) : withinBody(messageBytes);
    return (chunk) => {
      if (isWithin(chunk)) return chunk;
      this.given.onTooLarge(this.isEvents);
      throw new TooLargeAnswer(`The answer is larger than ${messageBytes} bytes.`);
    };
  }
}

function withinBody(messageBytes: number): (chunk: Uint8Array) => boolean {
  let bytes = 0;
  return (chunk) => (bytes += chunk.length) <= messageBytes;
}

/** An event of a stream ends at an empty line. */
function withinEvents(messageBytes: number): (chunk: Uint8Array) => boolean {
  let bytes = 0;
  let last = 0;
  return (chunk) => {
    const end = lastEmptyLine(chunk, last);
    bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
    last = chunk.at(-1) ?? last;
    return bytes <= messageBytes;
  };
}

/** Where the last empty line of a chunk ends, or -1; `before` is the byte that came before the chunk. */
function lastEmptyLine(chunk: Uint8Array, before: number): number {
  for (let at = chunk.lastIndexOf(newLine); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(newLine, at - 1)) {
    const previous = at === 0 ? before : chunk[at - 1];
    if (previous === newLine || (previous === carriageReturn && chunk[at - 2] === newLine)) return at + 1;
  }
  return -1;
}
