import type { JsonObject } from '../json.js';

/**
 * Who signs: the filter what it granted, the agent what the model called, the executor how a run goes on, the audit
 * where its chains stand, and `config` is the key of those who put configurations in force. `call` is the executor's
 * second key, for calls that requests make themselves: what it signs grants no model's turn.
 */
export const signers = ['filter', 'agent', 'executor', 'call', 'audit', 'config'] as const;
export type SignerRole = (typeof signers)[number];

/** Signatures as text that travels in a record: compact JWS, or one over many claims with each one’s place in it. */
export interface Signatures {
  /** True if this process has the role’s private key. */
  canSign(as: SignerRole): boolean;
  /** Rejects if this process has no private key for the role. */
  sign(as: SignerRole, claims: JsonObject): Promise<string>;
  /**
   * A hash of a text that only who has the role’s private key can make or check, so that a short text cannot be
   * guessed from it. Names the key. Throws if this process has no private key for the role.
   */
  keyedHash(as: SignerRole, text: string): string;
  /** What the role signed, or null if it is not the role’s signature. Never rejects for what is in the text. */
  verify(by: SignerRole, token: string | null): Promise<JsonObject | null>;
  /** The id of the key that the token names, if it is none of the role’s that are known here; else null. */
  unknownKey(role: SignerRole, token: string): string | null;
  /**
   * Since when the role has keys, milliseconds since the epoch; Infinity if it has none here. A former version had no
   * keys of the agent, of `call` and of `config`, and signed no record as a whole: so what the log took before may be
   * unsigned. `ends`: since when ends of runs are signed.
   */
  since(what: SignerRole | 'ends'): number;
}

/** For who checks signatures and makes none. */
export type Verifier = Pick<Signatures, 'verify' | 'unknownKey' | 'since'>;
