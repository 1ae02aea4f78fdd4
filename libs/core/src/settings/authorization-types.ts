/** Who may do what; a list that is `*` alone means everyone, every tenant, every tool or every connection. */
export interface Permission {
  readonly principals: readonly string[];
  readonly tenants: readonly string[];
  /** Tool ids. */
  readonly tools: readonly string[];
  readonly connections: readonly string[];
}

/** Who may act for whom, and with what. */
export interface Delegation extends Omit<Permission, 'principals'> {
  readonly actors: readonly string[];
  readonly subjects: readonly string[];
}

/**
 * Which authorizer decides, and by what; self-contained, with groups taken apart into principals for the built-in
 * rules.
 */
export type AuthorizationSettings =
  | {
      readonly kind: 'rules';
      readonly permissions: readonly Permission[];
      readonly delegations: readonly Delegation[];
    }
  | {
      readonly kind: 'cedar';
      readonly policies: string;
      readonly schema: string;
      /** Principals by group. */
      readonly groups: Readonly<Record<string, readonly string[]>>;
      /** Names of the caller’s claims that the schema declares; absent for none. */
      readonly claims?: readonly string[];
    }
  | {
      readonly kind: 'openfga';
      readonly url: string;
      readonly store: string;
      /** The id of the authorization model; null for the store's latest. */
      readonly model: string | null;
      readonly keyEnv: string | null;
      readonly timeoutMs: number;
      /** By tool id, the arguments whose values are objects that are checked; absent for none. */
      readonly arguments?: Readonly<Record<string, readonly ArgumentObject[]>>;
      /** What else of the call the context of a check has, for conditions; absent for nothing. */
      readonly context?: readonly CheckContext[];
    };

/** An argument of a tool whose values are objects of a store, and the relation that the caller needs to each. */
export interface ArgumentObject {
  readonly path: string;
  readonly type: string;
  readonly relation: string;
}

/** What of a call a check at OpenFGA can be given. */
export const checkContexts = ['arguments', 'claims', 'facts'] as const;
type CheckContext = (typeof checkContexts)[number];
