import type { Problem } from './generated/api.js';

/** What this client throws. */
export class SluiceError extends Error {
  override readonly name: string = 'SluiceError';
}

/** What a refusal says beside its problem. */
export interface RefusalContext {
  readonly status: number;
  /** Milliseconds that the gateway asks to wait; null where it says nothing. */
  readonly retryAfterMs: number | null;
}

/** A refusal: the gateway’s problem of RFC 9457. `code` is one of docs/errors.md, `message` says what to change. */
export class ProblemError extends SluiceError {
  override readonly name: string = 'ProblemError';
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly code: string;

  constructor(
    readonly problem: Problem,
    { status, retryAfterMs }: RefusalContext,
  ) {
    super(problem.detail);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.code = problem.code;
  }
}

/** 400, 413, 415: the request cannot be read, or is too large. */
export class InvalidRequestError extends ProblemError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the credential is missing or does not hold. */
export class UnauthorizedError extends ProblemError {
  override readonly name = 'UnauthorizedError';
}
/** 403: the caller may not ask for this. */
export class ForbiddenError extends ProblemError {
  override readonly name = 'ForbiddenError';
}
/** 404: there is no such thing for this caller. */
export class NotFoundError extends ProblemError {
  override readonly name = 'NotFoundError';
}
/** 409: the request_id was taken before. */
export class ConflictError extends ProblemError {
  override readonly name = 'ConflictError';
}
/** A decision on an approval that cannot count; `notTaken` says why (docs/approvals.md). */
export class DecisionNotTakenError extends ProblemError {
  override readonly name = 'DecisionNotTakenError';
  readonly notTaken: string;

  constructor(problem: Problem, context: RefusalContext) {
    super(problem, context);
    this.notTaken = problem.not_taken ?? '';
  }
}
/**
 * 429: the caller has made all the requests that it may make in a minute, or its tenant has as many open runs as it
 * may (`too_many_runs`).
 */
export class RateLimitedError extends ProblemError {
  override readonly name = 'RateLimitedError';
}
/** 502, 503, 504: the gateway is busy, or something that it needs cannot be reached. */
export class UnavailableError extends ProblemError {
  override readonly name = 'UnavailableError';
}

/** The gateway cannot be reached, or the connection was cut. `location` says where the run is, if it has begun. */
export class ConnectionError extends SluiceError {
  override readonly name = 'ConnectionError';
  constructor(
    message: string,
    readonly location: string | null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The run did not end in the time that the caller gave it. It goes on; `location` says where it is. */
export class WaitTimeoutError extends SluiceError {
  override readonly name = 'WaitTimeoutError';
  constructor(
    message: string,
    readonly location: string,
  ) {
    super(message);
  }
}

const byStatus: Readonly<Record<number, new (problem: Problem, context: RefusalContext) => ProblemError>> = {
  400: InvalidRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  429: RateLimitedError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
};

/** The error of a refusal. A proxy on the way may answer with something that is no problem. */
export function errorOf(body: unknown, context: RefusalContext): ProblemError {
  const { status } = context;
  const given = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : {};
  const code = given.code ?? `http_${status}`;
  const message = given.detail ?? `The answer had the status ${status}.`;
  const unknown = { type: 'about:blank', title: 'Error', status, detail: message, code, error: { code, message } };
  if (code === 'decision_not_taken') return new DecisionNotTakenError({ ...unknown, ...given }, context);
  return new (byStatus[status] ?? ProblemError)({ ...unknown, ...given }, context);
}
