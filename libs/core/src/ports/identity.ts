import type { IdentitySettings } from '../settings/identity-types.js';
import type { JsonObject } from '../json.js';
import type { Principal } from '../identity/principal.js';

export type Authentication =
  /**
   * `claims` are those of the verified credential, absent where there is none; `expiresAt` is its end, in milliseconds
   * since the epoch, absent where it has none.
   */
  | {
      readonly ok: true;
      readonly principal: Principal;
      readonly claims?: JsonObject;
      /** What the source of its groups names, before roles become groups; absent where there is none. */
      readonly roles?: readonly string[];
      readonly expiresAt?: number;
    }
  /**
   * `message` says what is wrong with the credential, without repeating any of it. `revoked` is the tenant for which it
   * was good until it was revoked; absent where nothing proves that.
   */
  | { readonly ok: false; readonly message: string; readonly revoked?: string };

/** Who sent a record. */
export interface Authenticator {
  /**
   * Verifies the record’s `authorization` header. `at` is when the log took the record, milliseconds since the epoch:
   * by that time the credential must have been valid. Throws Fault('identity_unreachable', retryable) where the keys
   * cannot be had.
   */
  authenticate(settings: IdentitySettings, authorization: string | undefined, at: number): Promise<Authentication>;
}
