export { Sluice } from './client.js';
export type { CallOptions, ClientOptions } from './transport.js';
export type { CreateOptions, FinishedRun, Run, RunChange, RunRef, WaitOptions } from './runs.js';
export type { AgentCall, ApprovalEscalation, ApprovalOutcome, RunEvent, RunPlace, Usage } from './events.js';
export type { WhatIfEvent } from './resources.js';
export type { VerificationEvent } from './resources.js';
export { Pages } from './pages.js';
export type { Page } from './pages.js';
export {
  ConflictError,
  ConnectionError,
  DecisionNotTakenError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  ProblemError,
  RateLimitedError,
  SluiceError,
  UnauthorizedError,
  UnavailableError,
  WaitTimeoutError,
} from './errors.js';
export type * from './generated/api.js';
