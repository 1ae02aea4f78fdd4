export interface RateRequest {
  /** Whose calls are counted together. */
  readonly key: string;
  /** So many in one window. */
  readonly limit: number;
  /** How long a window lasts from its first call on, milliseconds. */
  readonly windowMs: number;
}

/** With how many are left in the window, and the milliseconds until it ends. */
export type RateAnswer =
  | { readonly within: true; readonly remaining: number; readonly resetMs: number }
  | { readonly within: false; readonly retryAfterMs: number };

/**
 * Counts calls in fixed windows, over all processes that share the store. Windows are those of the processes' clocks.
 * All faults are thrown as Fault('ledger_unreachable', retryable): without a count, no call passes. After a broken
 * connection one call may have been counted twice, never none. A count outlives the process, and need not outlive a
 * loss of power: nothing is done twice without it.
 */
export interface RateLimiter {
  /** Counts one and says whether it is within the limit. */
  take(request: RateRequest): Promise<RateAnswer>;
  /** Lets go of windows that have ended by `now`, milliseconds since the epoch. */
  sweepRates(now: number): Promise<void>;
}
