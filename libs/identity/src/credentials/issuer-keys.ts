import type { KeyObject } from 'node:crypto';
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from 'jose';

/**
 * The issuer’s key for a token. Rejects with a JOSEError if there is none for it, with a retryable Fault if the keys
 * cannot be had.
 */
export type KeySource = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey | KeyObject>;
