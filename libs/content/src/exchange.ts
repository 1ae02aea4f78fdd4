/** What a service answered. Its body is read once, or dropped: one that is not read keeps its connection. */
export interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Headers;
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  /** At most so many bytes of it. */
  bytes(most: number): Promise<Buffer>;
  drop(): Promise<void>;
}

interface Sent {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Buffer | AsyncIterable<Uint8Array> | undefined;
}

/**
 * Sends a request. It fails when the service neither takes nor gives anything for so many milliseconds; how long a
 * body takes in all, and how long its reader, does not count.
 */
export async function exchange(url: string, { method, headers, body }: Sent, silentMs: number): Promise<Answer> {
  const silence = new Silence(silentMs);
  silence.begin();
  try {
    const answer = await fetch(url, {
      ...{ method, headers, redirect: 'error', signal: silence.signal },
      ...(body === undefined
        ? {}
        : { body: (Buffer.isBuffer(body) ? body : watched(body, silence)) as never, duplex: 'half' as const }),
    });
    return answerOf(answer, silence);
  } finally {
    silence.end();
  }
}

/** Aborts an exchange in which the service is waited for too long. */
class Silence {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ms: number) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  begin(): void {
    this.end();
    const error = new Error(`nothing came for ${this.ms / 1_000} s`);
    this.timer = setTimeout(() => this.controller.abort(error), this.ms);
  }

  broken(): void {
    this.timer?.refresh();
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/** A piece is asked for when the one before it was taken. */
async function* watched(
  pieces: AsyncIterable<Uint8Array>,
  silence: Silence,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    silence.broken();
    yield piece;
  }
  silence.broken();
}

function answerOf({ status, ok, headers, body }: Response, silence: Silence): Answer {
  const pieces = (): AsyncGenerator<Uint8Array, void, undefined> => received(body, silence);
  return {
    ...{ status, ok, headers, pieces },
    bytes: async (most) => {
      const held: Uint8Array[] = [];
      let length = 0;
      for await (const piece of pieces()) {
        held.push(piece);
        length += piece.length;
        if (length >= most) break;
      }
      return Buffer.concat(held).subarray(0, most);
    },
    drop: async () => body?.cancel(),
  };
}

async function* received(body: Response['body'], silence: Silence): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      silence.begin();
      const { done, value } = await reader.read().finally(() => silence.end());
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
