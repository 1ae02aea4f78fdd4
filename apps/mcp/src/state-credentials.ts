import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '@sluice/contracts';
import type { Principal } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import { sessionKey, writeCredential } from '@sluice/mcp';
import { sessionKeptMs } from './session-states.js';

/** How long a state credential is good for. It is exchanged for a new one before or after that. */
const credentialMs = 15 * 60_000;

/**
 * What the ledger knows of a session’s credentials: the one that counts, and until when; null once they are revoked.
 */
interface Kept {
  readonly current: string | null;
  readonly until: number;
}

/** A credential that counts: its session, and the version of what the ledger knows, which a transition moves on. */
export interface StateCredential {
  readonly session: string;
  readonly version: number;
}

/** A new credential, as a token endpoint answers. */
export interface MintedCredential {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
}

type Holder = { readonly principal: Principal; readonly token: string | null };

/**
 * The states of the era without sessions. A credential names a session; the ledger says which credential of it
 * counts, so that a transition, an exchange or a revocation ends every one before it, whatever is written in them.
 */
export class StateCredentials {
  constructor(private readonly runtime: Pick<Runtime, 'documents' | 'clock'>) {}

  /** The first credential of a new session, in the state `undefined`. */
  async begin(holder: Holder): Promise<MintedCredential> {
    const minted = await this.mint(randomUUID(), holder, 1);
    if (minted === null) throw new Error('The ledger knows a session that has just been named.');
    return minted;
  }

  /** What the credential stands for, or why it counts for nothing. */
  async verify(session: string, secret: string, principal: Principal): Promise<StateCredential | { refused: string }> {
    const found = await this.kept(session, principal);
    if (found === null || found.kept.current === null)
      return { refused: 'The state credential is unknown or revoked. Exchange the identity’s token for a new one.' };
    if (found.kept.current !== sha256(secret))
      return { refused: 'The state credential was replaced by a newer one. Exchange it for that one.' };
    if (found.kept.until <= this.runtime.clock.now())
      return { refused: 'The state credential has expired. Exchange it for a new one.' };
    return { session, version: found.version };
  }

  /**
   * The session’s next credential in place of all before it; null where there is no such session of the holder, or it
   * is revoked.
   */
  async exchange(session: string, holder: Holder): Promise<MintedCredential | null> {
    for (;;) {
      const found = await this.kept(session, holder.principal);
      if (found === null || found.kept.current === null) return null;
      const minted = await this.mint(session, holder, found.version + 1);
      if (minted !== null) return minted;
    }
  }

  /**
   * The credential behind a transition; null where another call of the session moved on first, so that this one moves
   * nothing.
   */
  after({ session, version }: StateCredential, holder: Holder): Promise<MintedCredential | null> {
    return this.mint(session, holder, version + 1);
  }

  /** Ends the session: no credential of it counts, and none is exchanged, ever again. */
  async revoke(session: string, principal: Principal): Promise<void> {
    for (;;) {
      const found = await this.kept(session, principal);
      if (found === null || found.kept.current === null) return;
      if (await this.keep(session, principal, found.version + 1, { current: null, until: 0 })) return;
    }
  }

  private async mint(session: string, { principal, token }: Holder, version: number): Promise<MintedCredential | null> {
    const secret = randomBytes(32).toString('base64url');
    const until = this.runtime.clock.now() + credentialMs;
    if (!(await this.keep(session, principal, version, { current: sha256(secret), until }))) return null;
    const access_token = writeCredential({ session, secret, token });
    return { access_token, token_type: 'Bearer', expires_in: credentialMs / 1_000 };
  }

  private async kept(session: string, principal: Principal): Promise<{ version: number; kept: Kept } | null> {
    const found = await this.runtime.documents.find(keyOf(session, principal));
    return found === undefined ? null : { version: found.version, kept: JSON.parse(found.text) as Kept };
  }

  private keep(session: string, principal: Principal, version: number, kept: Kept): Promise<boolean> {
    const { documents, clock } = this.runtime;
    return documents.put(keyOf(session, principal), version, JSON.stringify(kept), clock.now() + sessionKeptMs);
  }
}

/** The key contains the holder, so a session id is useless to anybody else. */
function keyOf(session: string, principal: Principal): string {
  return `mcp/credential/${sessionKey(session, principal)}`;
}
