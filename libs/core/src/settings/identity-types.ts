export const identityProviders = ['none', 'jwt', 'api-keys'] as const;

/** The names of the claims that say what; null for what no claim says. */
export interface ClaimNames {
  readonly actor: string;
  readonly tenant: string;
  readonly subject: string | null;
  readonly groups: string;
  readonly connections: string | null;
  /** Stands between names where a claim is a text; absent: blanks. */
  readonly groupsSeparator?: string;
  /** Taken off the beginning of each group that has it, as in `/knowledge`; absent: nothing. */
  readonly groupsPrefix?: string;
}

/** How the sender of a request is known. API keys are accepted with `jwt` too. */
export type IdentitySettings = { readonly provider: 'none' } | ApiKeySettings | JwtSettings;

interface ApiKeySettings {
  readonly provider: 'api-keys';
  /** Absent where there are no operators. */
  readonly operators?: readonly Operators[];
}

/** Principals of these tenants who may use the operators’ routes of the gateway. */
export interface Operators {
  readonly principals: readonly string[];
  readonly tenants: readonly string[];
}

/**
 * At most one of `jwksUrl` and `keyFile` is there; without either the issuer's OIDC discovery says where the keys
 * are.
 */
export interface JwtSettings {
  readonly provider: 'jwt';
  readonly jwksUrl: string | null;
  /** A JWKS or PEM file, relative to the working directory. */
  readonly keyFile: string | null;
  readonly issuer: string;
  readonly audience: string;
  readonly claims: ClaimNames;
  /** How far the issuer's clock may be off, in milliseconds; absent for the default. */
  readonly clockToleranceMs?: number;
  /** Where the groups of a caller come from; absent: from the claims as they are. */
  readonly permissions?: PermissionSettings;
  /** Absent where there are no operators. */
  readonly operators?: readonly Operators[];
  /** How a person signs in to the console; absent: with a pasted credential. */
  readonly console?: ConsoleClient;
}

/** The console as a public client of the issuer: authorization code with PKCE. */
export interface ConsoleClient {
  readonly clientId: string;
  /** The address of the issuer. */
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** For whom the access token is, where the issuer has to be asked for that (RFC 8707). */
  readonly resource: string | null;
}

/** Where the groups and connections of a verified caller come from. */
export interface PermissionSettings {
  /**
   * The groups of each role. What the source names is then roles, and a role that is not here gives nothing; absent:
   * it names groups.
   */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  /** Absent: the claims. */
  readonly source?: PermissionSourceSettings;
}

export type PermissionSourceSettings =
  | { readonly kind: 'file'; readonly path: string }
  /** A table or view in the database of the ledger. */
  | { readonly kind: 'table'; readonly table: string }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly keyEnv: string | null;
      readonly timeoutMs: number;
      readonly cacheMs: number;
    };
