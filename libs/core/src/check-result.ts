/** What a look at one part of an installation found. */
export interface CheckResult {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  /** A sentence without secrets. */
  readonly detail: string;
  /** What to do, as a sentence; absent where there is nothing to do, or the detail says it. */
  readonly action?: string;
}
