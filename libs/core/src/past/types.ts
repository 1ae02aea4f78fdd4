/** Whose calls of the past a rule counts. */
export const pastScopes = ['run', 'session', 'user', 'tenant', 'agent'] as const;
export type PastScope = (typeof pastScopes)[number];

/** What `within` of a rule on history may be. */
export const historySpans = ['run', 'session', 'user', 'tenant'] as const satisfies readonly PastScope[];
/** What `per` of a total may be. */
export const totalScopes = ['session', 'user', 'tenant', 'agent'] as const satisfies readonly PastScope[];

/** Calls of the past that a rule on history looks at. */
export interface PastSpan {
  readonly within: (typeof historySpans)[number];
  readonly inLastMs: number;
}

/** What the calls of a rule’s tools may add up to within a sliding span. */
export interface TotalLimit {
  /** The calls themselves, or the numbers at a path of their arguments. */
  readonly of: 'calls' | { readonly path: string };
  readonly atMost: number;
  readonly per: (typeof totalScopes)[number];
  readonly withinMs: number;
}

/** Who calls, as the past is counted by. */
export interface PastCaller {
  readonly tenantId: string;
  /** On whose behalf the run is, else who asked: `user:ann`. */
  readonly userId: string;
  readonly sessionId: string;
  readonly requestId: string;
  /** As in RuleFacts. */
  readonly agent: string;
}
