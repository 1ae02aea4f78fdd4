/** A request of a route, and what it is answered by status: what the description shows. */
export interface Example {
  /** What stands in the path’s places. */
  readonly places?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** JSON by status; a route that answers in another form has none. */
  readonly answers: Readonly<Record<number, unknown>>;
}

/** When the examples take place. */
export const at = Date.UTC(2026, 0, 1);

/** The configuration that they were decided under. */
export const version = 'c-4f2a9d1c7b3e8056';
