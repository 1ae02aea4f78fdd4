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
    }
  | {
      readonly kind: 'openfga';
      readonly url: string;
      readonly store: string;
      /** The id of the authorization model; null for the store's latest. */
      readonly model: string | null;
      readonly keyEnv: string | null;
      readonly timeoutMs: number;
    };
