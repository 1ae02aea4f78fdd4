export const connectionAdapters = ['environment', 'file', 'http'] as const;

/** Where the credential of a connection comes from; the credential itself is nowhere in a configuration. */
export type ConnectionSettings = {
  readonly id: string;
  /** Whose requests may use it; `*` for all. */
  readonly tenants: readonly string[];
  /**
   * Where tools may send it, as schemes, hosts and ports; absent where none is written, and only an MCP server’s own
   * address gets it.
   */
  readonly hosts?: readonly string[];
} & (
  | { readonly adapter: 'environment'; readonly variable: string }
  /** Relative to the working directory. */
  | { readonly adapter: 'file'; readonly path: string }
  /** A broker of the operator's; `keyEnv` is the variable with the key that Sluice shows it, null for none. */
  | { readonly adapter: 'http'; readonly url: string; readonly keyEnv: string | null }
);
