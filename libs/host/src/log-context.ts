import { AsyncLocalStorage } from 'node:async_hooks';
import type { HandlerContext, Incoming } from '@sluice/bus';
import { runIdsOf } from '@sluice/contracts';

/**
 * What a line of the log is about: it stands on every line that is written while the record is handled, and after its
 * commit.
 */
export interface LogContext {
  readonly request_id?: string;
  readonly session_id?: string;
  readonly trace_id?: string;
}

const now = new AsyncLocalStorage<LogContext>();
/**
 * While an action after a commit runs. An asynchronous context would be a map made for each of them, and an action
 * does not wait for anything.
 */
let afterwards: LogContext | undefined;

/** Runs the work; the lines that it writes name what they are about. */
export function withLogContext<T>(what: LogContext, work: () => T): T {
  return about(undefined, () => now.run(what, work));
}

/** A copy, since the caller adds to it. */
export function logContext(): LogContext {
  return { ...(afterwards ?? now.getStore()) };
}

function about<T>(what: LogContext | undefined, work: () => T): T {
  const before = afterwards;
  afterwards = what;
  try {
    return work();
  } finally {
    afterwards = before;
  }
}

/**
 * The same context, whose actions after the commit are still about what is handled now, as long as they do not wait
 * for anything.
 */
export function staysAbout(context: HandlerContext): HandlerContext {
  const what = now.getStore();
  return what === undefined ? context : new Staying(context, what);
}

class Staying implements HandlerContext {
  constructor(
    private readonly context: HandlerContext,
    private readonly what: LogContext,
  ) {}

  get signal(): AbortSignal {
    return this.context.signal;
  }

  get attempt(): number {
    return this.context.attempt;
  }

  get carried(): string {
    return this.context.carried;
  }

  get emit(): HandlerContext['emit'] {
    return this.context.emit;
  }

  get aside(): NonNullable<HandlerContext['aside']> {
    const { context } = this;
    return (wait) => context.aside?.(wait) ?? wait();
  }

  get carry(): HandlerContext['carry'] {
    return this.context.carry;
  }

  get credentialUsed(): HandlerContext['credentialUsed'] {
    return this.context.credentialUsed;
  }

  get onRetry(): HandlerContext['onRetry'] {
    return this.context.onRetry;
  }

  get afterCommit(): HandlerContext['afterCommit'] {
    const { context, what } = this;
    return (action) => context.afterCommit(actionAbout(what, action));
  }
}

/**
 * A function of its own, since an action is kept until the commit and would keep the context, had it been made there.
 */
function actionAbout(what: LogContext, action: () => void): () => void {
  return () => about(what, action);
}

/** The run and the session of a record, as lines of the log name them. */
export function idsOf(message: Incoming): Pick<LogContext, 'request_id' | 'session_id'> {
  const ids = runIdsOf(message);
  return ids === null ? {} : { request_id: ids.requestId, session_id: ids.sessionId };
}

const traceparent = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/** The id of the trace that a record came with (W3C Trace Context), if it came with one. */
export function traceIdOf({ traceparent: header = '' }: Readonly<Record<string, string>>): string | undefined {
  return traceparent.exec(header)?.[1];
}
