import { ConflictError, ConnectionError, errorOf, ProblemError, WaitTimeoutError } from './errors.js';
import type { RunEvent } from './events.js';
import type {
  AgentRequest,
  EndedRun,
  ListedRun,
  ListRunsQuery,
  ReadContentQuery,
  ReadRecordsQuery,
  RunList,
  RunningRun,
  Upload,
} from './generated/api.js';
import { RunsCalls } from './generated/calls.js';
import { Pages } from './pages.js';
import { RunReader } from './run-reader.js';
import { dataOf } from './sse.js';
import type { Chunk } from './sse.js';
import { messageOf, queryOf } from './transport.js';
import type { CallOptions, Sent } from './transport.js';

/** A run, ended or not; `location` is where it is read again. */
export type Run = (RunningRun | EndedRun) & { readonly location: string };
export type FinishedRun = EndedRun & { readonly location: string };

/**
 * Where a run is: its `location`, a run that this client gave, a run of a list by its `href`, what the first event of
 * its stream holds, or, once a filter has taken its request, its request_id alone.
 */
export type RunRef =
  | string
  | { readonly location: string }
  | { readonly href: string | null }
  | { readonly request_id: string; readonly session_id?: string; readonly since: number; readonly token?: string };

/** A run of the list as it is now, or one that is no longer in the filter. */
export type RunChange =
  { readonly type: 'run'; readonly run: ListedRun } | { readonly type: 'left'; readonly request_id: string };

interface ChangeChunk {
  readonly type: string;
  readonly data: readonly RunChange[];
}

export interface CreateOptions extends CallOptions {
  /**
   * Stands for a request_id; made here where the request has none, so that an attempt that was cut starts no second
   * run.
   */
  readonly idempotencyKey?: string;
}

export interface WaitOptions extends CallOptions {
  /** How long to wait for the end; without it, as long as the run takes. */
  readonly timeoutMs?: number;
}

const events = { accept: 'text/event-stream' };
/** Of one request; connections are often cut at a minute. */
const longestWaitSeconds = 30;

export class Runs extends RunsCalls {
  /** Starts a run and returns at once. */
  async create(request: AgentRequest, options: CreateOptions = {}): Promise<Run> {
    return this.run(creation(request, options));
  }

  /** Starts a run and waits for its end. */
  async ask(request: AgentRequest, options: CreateOptions & WaitOptions = {}): Promise<FinishedRun> {
    const until = timeLimit(options);
    const run = await this.run({ ...creation(request, options), waitSeconds: until.seconds() });
    return run.status === 'ended' ? run : this.end(run.location, until, options);
  }

  /** The run as it is now. */
  async get(run: RunRef, options: CallOptions = {}): Promise<Run> {
    return this.run({ path: pathOf(run), isRepeatable: true, ...options });
  }

  /** Waits for the run’s end. Throws WaitTimeoutError where that takes longer than the caller said; the run goes on. */
  async wait(run: RunRef, options: WaitOptions = {}): Promise<FinishedRun> {
    return this.end(pathOf(run), timeLimit(options), options);
  }

  /**
   * Cancels a run of one’s own, by its place or its request_id alone, and returns it as it is then: a run that has
   * ended keeps its end. With `timeoutMs` it waits so long for the end.
   */
  async cancel(run: RunRef, options: WaitOptions & { readonly reason?: string } = {}): Promise<Run> {
    const { reason, timeoutMs = 0, ...rest } = options;
    const [path = '', query] = pathOf(run).split('?');
    const cancelled = await this.run({
      ...{ method: 'POST', path: `${path}/cancel${query === undefined ? '' : `?${query}`}`, isRepeatable: true },
      ...(reason === undefined ? {} : { body: { reason } }),
      waitSeconds: Math.min(longestWaitSeconds, Math.ceil(timeoutMs / 1_000)),
      ...rest,
    });
    if (cancelled.status === 'ended' || timeoutMs <= longestWaitSeconds * 1_000) return cancelled;
    return this.end(cancelled.location, timeLimit({ timeoutMs }), rest);
  }

  /** The runs of one’s tenant, the newest first. */
  list(query: Omit<ListRunsQuery, 'cursor'> = {}, options: CallOptions = {}): Pages<ListedRun> {
    return new Pages(async (cursor) => {
      const sent = { path: '/v1/runs', query: { ...query, cursor }, isRepeatable: true, ...options };
      const { runs, next_cursor: next } = await this.transport.json<RunList>(sent);
      return { items: runs, next };
    });
  }

  /**
   * Keeps an image or a file for a day, so that a request can name it: put `content` of the result into that of the
   * request. Its type is found by its bytes; of text it is what is given here, or what the name ends in.
   */
  upload(
    file: Blob | Uint8Array<ArrayBuffer>,
    { name, type, ...options }: CallOptions & { readonly name?: string; readonly type?: string } = {},
  ): Promise<Upload> {
    const given = type ?? (file instanceof Blob && file.type !== '' ? file.type : 'application/octet-stream');
    const called = name ?? (typeof File !== 'undefined' && file instanceof File ? file.name : undefined);
    return this.transport.json({
      ...{ method: 'POST', path: '/v1/uploads', query: called ? { name: called } : {}, file },
      headers: { 'content-type': given },
      isRepeatable: true,
      ...options,
    });
  }

  /**
   * What the question or a step of the run names by this hash: an image, a file, a long result. The run by its
   * request_id, with `session_id` and `since` of its location where no filter has taken it yet.
   */
  content(requestId: string, hash: string, query: ReadContentQuery = {}, options: CallOptions = {}): Promise<Blob> {
    const path = `/v1/runs/${encodeURIComponent(requestId)}/content/${encodeURIComponent(hash)}`;
    return this.transport.blob({
      path,
      query: { ...query },
      headers: { accept: '*/*' },
      isRepeatable: true,
      ...options,
    });
  }

  /** The records of the run and of its agents’ runs as the log has them, a line of JSON each. For operators. */
  records(requestId: string, query: ReadRecordsQuery = {}, options: CallOptions = {}): Promise<string> {
    const path = `/v1/runs/${encodeURIComponent(requestId)}/records`;
    const headers = { accept: 'application/x-ndjson' };
    return this.transport.text({ path, query: { ...query }, headers, isRepeatable: true, ...options });
  }

  /**
   * The list as it changes: first the newest `limit` runs, the oldest of them first, then each run that begins, goes on
   * or ends, until the signal. A connection that is cut is opened again, and begins with the newest runs again.
   */
  async *changes(
    query: Omit<ListRunsQuery, 'cursor'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<RunChange, void, undefined> {
    const leaving = new AbortController();
    const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
    const sent = { path: '/v1/runs', query: { ...query }, headers: events, isRepeatable: true, signal };
    try {
      for (let attempt = 1; ; attempt++) {
        let problem: unknown = new Error('The stream ended.');
        try {
          const { body } = await this.transport.open(sent);
          if (body === null) throw new Error('The answer has no body.');
          for await (const { type, data } of dataOf<ChangeChunk>(body, this.transport.idleMs)) {
            if (type !== 'data') continue;
            // A cut is tried again so often until something comes.
            attempt = 0;
            yield* data;
          }
        } catch (error) {
          problem = error;
        }
        const cut =
          problem instanceof ProblemError ? problem : new ConnectionError(messageOf(problem), null, { cause: problem });
        await this.transport.pause(Math.max(1, attempt), cut, sent);
      }
    } finally {
      leaving.abort();
    }
  }

  /**
   * Starts a run and reports it as it happens. Where the connection is cut, the run is read again and goes on behind
   * what was reported, each thing once. Leaving the loop leaves the run as it is.
   */
  stream(request: AgentRequest, options: CreateOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    return this.events(creation(request, options), null);
  }

  /** A run that was started before, from its beginning to its end. */
  follow(run: RunRef, options: CallOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    const path = pathOf(run);
    return this.events({ path, isRepeatable: true, ...options }, path);
  }

  private async *events(first: Sent, known: string | null): AsyncGenerator<RunEvent, void, undefined> {
    const reader = new RunReader();
    let location = known;
    const leaving = new AbortController();
    const signal = first.signal === undefined ? leaving.signal : AbortSignal.any([first.signal, leaving.signal]);
    try {
      for (let attempt = 1; ; attempt++) {
        const sent = location === null ? first : { path: location, isRepeatable: true };
        let problem: unknown = new Error('The stream ended before the run did.');
        try {
          const response = await this.transport.open({ ...sent, headers: { ...sent.headers, ...events }, signal });
          reader.connected();
          if (response.body === null) throw new Error('The answer has no body.');
          for await (const chunk of dataOf<Chunk>(response.body, this.transport.idleMs)) {
            for (const event of reader.take(chunk)) {
              if (reader.place !== null) location = pathOf(reader.place);
              // A cut is tried again so often until something new comes.
              attempt = 0;
              if (event.type === 'end') refuseConflict(event);
              yield event;
            }
            if (reader.ended) return;
          }
        } catch (error) {
          problem = error;
          if (error instanceof ConflictError) throw error;
        }
        const cut =
          problem instanceof ProblemError
            ? problem
            : new ConnectionError(messageOf(problem), location, { cause: problem });
        await this.transport.pause(Math.max(1, attempt), cut, { ...sent, isRepeatable: true, signal });
      }
    } finally {
      leaving.abort();
    }
  }

  private async run(sent: Sent): Promise<Run> {
    const { body, location } = await this.transport.answer<RunningRun | EndedRun>(sent);
    return { ...body, location: location ?? sent.path };
  }

  private async end(path: string, until: TimeLimit, { signal }: CallOptions): Promise<FinishedRun> {
    for (;;) {
      const waitSeconds = until.seconds();
      const more = signal === undefined ? {} : { signal };
      const run = await this.run({ path, isRepeatable: true, waitSeconds, ...more });
      if (run.status === 'ended') return run;
      if (until.seconds() === 0)
        throw new WaitTimeoutError('The run has not ended in the time that was given. It goes on.', run.location);
    }
  }
}

interface TimeLimit {
  /** To wait in the next request. */
  seconds(): number;
}

function timeLimit({ timeoutMs = Infinity }: WaitOptions): TimeLimit {
  const until = Date.now() + timeoutMs;
  return { seconds: () => Math.min(longestWaitSeconds, Math.max(0, Math.ceil((until - Date.now()) / 1_000))) };
}

function creation(body: AgentRequest, { idempotencyKey, signal }: CreateOptions): Sent {
  const isNamed = typeof body.request_id === 'string' && body.request_id !== '';
  const key = idempotencyKey ?? (isNamed ? null : newKey());
  const headers = key === null ? {} : { 'idempotency-key': key };
  return { method: 'POST', path: '/v1/runs', body, headers, isRepeatable: true, ...(signal ? { signal } : {}) };
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The path of a run from the gateway’s address. */
function pathOf(run: RunRef): string {
  if (typeof run === 'string') return run.startsWith('/') ? run : `/v1/runs/${encodeURIComponent(run)}`;
  if ('location' in run) return pathOf(run.location);
  if ('href' in run) {
    if (run.href === null) throw new TypeError('The run is another caller’s, so it has no href.');
    return pathOf(run.href);
  }
  const { request_id: id, session_id, since, token } = run;
  return `/v1/runs/${encodeURIComponent(id)}${queryOf({ session_id, since, token })}`;
}

/** The id is another request’s: on a stream that has begun, only its end can say so. */
function refuseConflict({ error }: Extract<RunEvent, { type: 'end' }>): void {
  if (error?.code !== 'conflict') return;
  throw errorOf({ code: error.code, detail: error.message, title: 'Conflict' }, { status: 409, retryAfterMs: null });
}
