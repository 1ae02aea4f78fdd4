/** Bytes of one message from a server: of a body of JSON, or of one event of a stream. As over stdio. */
export const messageBytes = 10_485_760;

const newLine = 0x0a;
const carriageReturn = 0x0d;

export interface BoundedBy {
  /** Called before the body fails. */
  onTooLarge(): void;
  /** Called once, when the body has ended in whatever way. */
  onEnd(): void;
}

export class TooLargeResponse extends Error {
  override readonly name = 'TooLargeResponse';
}

export function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** The same response, whose body fails as soon as one message in it is too large: no more of it is ever held. */
export function boundedResponse(response: Response, given: BoundedBy): Response {
  const { body, headers, status, statusText } = response;
  if (body === null) {
    given.onEnd();
    return response;
  }
  const declared = headers.get('content-length');
  // A declared length is kept to by fetch itself, but for what it unpacks.
  if (declared !== null && headers.get('content-encoding') === null && Number(declared) <= messageBytes) {
    given.onEnd();
    return response;
  }
  if (isStream(response)) {
    // Whoever reads a stream reads its body: another one in its place is all it takes, and a Response of its own would cost more than the call.
    return Object.defineProperty(response, 'body', { value: checked(body, withinEvents(), given) });
  }
  return new Response(checked(body, withinBody(), given), { headers, status, statusText });
}

function checked(
  body: ReadableStream<Uint8Array>,
  isWithin: (chunk: Uint8Array) => boolean,
  given: BoundedBy,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  // Nothing is read ahead of whoever reads this.
  const queue = { highWaterMark: 0 };
  const source = {
    pull: async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          given.onEnd();
          controller.close();
        } else if (isWithin(value)) controller.enqueue(value);
        else {
          given.onTooLarge();
          await reader.cancel();
          throw new TooLargeResponse(`The answer is larger than ${messageBytes} bytes.`);
        }
      } catch (error) {
        given.onEnd();
        throw error;
      }
    },
    cancel: async (reason: unknown): Promise<void> => {
      given.onEnd();
      await reader.cancel(reason);
    },
  };
  return new ReadableStream(source, queue);
}

function withinBody(): (chunk: Uint8Array) => boolean {
  let bytes = 0;
  return (chunk) => (bytes += chunk.length) <= messageBytes;
}

/** An event of a stream ends at an empty line. */
function withinEvents(): (chunk: Uint8Array) => boolean {
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
