import type { ConnectionSettings } from '../settings/connection-types.js';

/**
 * For whom a connection is used: references only. All null where there is no caller, when an MCP server is asked what
 * it offers.
 */
export interface ConnectionUse {
  readonly tenantId: string | null;
  readonly actorId: string | null;
  readonly subjectId: string | null;
}

/** A secret that opens something outside. Lives in memory alone, and goes only to the code that makes the call. */
export interface Credential {
  readonly token: string;
  /** Milliseconds since the epoch; null if unknown, so that it is asked for each time. */
  readonly expiresAt: number | null;
}

/** `why` tells denial and outage apart; `message` is for operators and holds nothing of a credential. */
export type ConnectionAnswer =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly why: 'denied' | 'unreachable'; readonly message: string };

/** Turns a connection into a credential at call time. */
export interface ConnectionBroker {
  /**
   * `refused` is a credential that the outside did not accept: the same one is not given again while there may be
   * another. Rejects only with the signal's reason.
   */
  credential(
    settings: ConnectionSettings,
    use: ConnectionUse,
    signal: AbortSignal,
    refused?: Credential,
  ): Promise<ConnectionAnswer>;
}
