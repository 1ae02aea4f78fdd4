/** The time, passed in wherever it matters, so that a replay gives the same bytes. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
