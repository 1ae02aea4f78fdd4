import { Sluice } from '@sluice/client';
import type { ConsoleAbout, Me } from '@sluice/client';
import { setCommandNames } from '../data/command-names.js';
import { consoleKey, forgetKey, rememberedSession, rememberSession, signedTime } from './device-key.js';
import { oidcSignIn } from './oidc.js';

export type { Me };

type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'signed-out'; readonly information: ConsoleAbout; readonly message: string | null }
  | { readonly kind: 'signed-in'; readonly information: ConsoleAbout; readonly me: Me };

interface SignedIn {
  readonly token: string;
  /** Milliseconds since the epoch; null for a credential that does not say. */
  readonly expiresAt: number | null;
}

/** A token is renewed when it holds for no longer than this. */
const renewBeforeMs = 60_000;
const retryMs = 2_000;

/**
 * Who is signed in. The token lives in this object alone, so a reload signs in again: by the key of this browser where
 * a one-time link was used, at the issuer where there is one.
 */
export class Session {
  private current: SessionState = { kind: 'starting' };
  private signedIn: SignedIn | null = null;
  private information: ConsoleAbout | null = null;
  private renew: (() => Promise<SignedIn>) | null = null;
  private renewing: Promise<SignedIn> | null = null;
  private readonly listeners = new Set<() => void>();

  get state(): SessionState {
    return this.current;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The credential of the next request, renewed where it is about to expire; empty where there is none. */
  async token(): Promise<string> {
    const now = this.signedIn;
    if (now === null) return '';
    if (this.renew === null || now.expiresAt === null || now.expiresAt - Date.now() > renewBeforeMs) return now.token;
    this.renewing ??= this.renew().finally(() => (this.renewing = null));
    try {
      this.signedIn = await this.renewing;
      return this.signedIn.token;
    } catch {
      return now.token;
    }
  }

  /** Signs in by what the address holds, or by what this browser has; else the page asks. */
  async start(): Promise<void> {
    const code = takeCode();
    for (;;) {
      try {
        this.information = await clientWith().console.get();
        setCommandNames(this.information);
        break;
      } catch (error) {
        this.set({ kind: 'unreachable', message: sentence(error) });
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    try {
      if (code !== null) return await this.signInByLink(code);
      const { sign_in: ways, oidc } = this.information;
      if (oidc !== null) return await this.resume(() => oidcSignIn(oidc, 'resume'));
      if (ways.includes('local')) return await this.resume(renewedByKey);
      this.signOut();
    } catch (error) {
      this.signOut(sentence(error));
    }
  }

  async signInByLink(code: string): Promise<void> {
    const key = await consoleKey();
    const answer = await clientWith().console.signIn({ code, public_key: key });
    if (answer.session !== null) await rememberSession(answer.session);
    await this.enter({ token: answer.token, expiresAt: answer.expires_at }, renewedByKeyOrFail);
  }

  /** By a token or an API key that the person pasted. */
  async signInByToken(token: string): Promise<void> {
    await this.enter({ token, expiresAt: null }, null);
  }

  /** Reads again what the person may do: a configuration in force may have changed it. */
  async refresh(): Promise<void> {
    if (this.current.kind !== 'signed-in') return;
    const me = await clientWith(await this.token()).callers.me();
    if (this.current.kind === 'signed-in' && JSON.stringify(me) !== JSON.stringify(this.current.me))
      this.set({ ...this.current, me });
  }

  /** Leaves the page for the issuer. */
  async signInAtIssuer(): Promise<void> {
    const oidc = this.information?.oidc;
    if (!oidc) throw new Error('This gateway names no issuer to sign in at.');
    await oidcSignIn(oidc, 'redirect');
  }

  signOut(message: string | null = null): void {
    this.signedIn = null;
    this.renew = null;
    if (this.information !== null) this.set({ kind: 'signed-out', information: this.information, message });
  }

  /** Forgets what this browser could sign in by. */
  async forget(): Promise<void> {
    await forgetKey();
    this.signOut();
  }

  /** The gateway refused the credential. */
  expire(message: string): void {
    if (this.current.kind === 'signed-in') this.signOut(`Sign in again. ${message}`);
  }

  private async resume(renewed: () => Promise<SignedIn | null>): Promise<void> {
    const found = await renewed();
    if (found === null) return this.signOut();
    await this.enter(found, async () => {
      const next = await renewed();
      if (next === null) throw new Error('Nothing to sign in by is left in this browser.');
      return next;
    });
  }

  private async enter(signedIn: SignedIn, renew: (() => Promise<SignedIn>) | null): Promise<void> {
    const me = await clientWith(signedIn.token).callers.me();
    this.signedIn = signedIn;
    this.renew = renew;
    if (this.information !== null) this.set({ kind: 'signed-in', information: this.information, me });
  }

  private set(state: SessionState): void {
    this.current = state;
    for (const listener of this.listeners) listener();
  }
}

export const session = new Session();

/** The one-time code of the address; it is taken out of the address and the history at once. */
function takeCode(): string | null {
  const found = /^#sign-in=([\w.~-]+)$/.exec(window.location.hash);
  if (found === null) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return found[1] ?? null;
}

async function renewedByKey(): Promise<SignedIn | null> {
  const remembered = await rememberedSession();
  if (remembered === null) return null;
  const answer = await clientWith().console.renew({ session: remembered, ...(await signedTime(remembered)) });
  return { token: answer.token, expiresAt: answer.expires_at };
}

async function renewedByKeyOrFail(): Promise<SignedIn> {
  const renewed = await renewedByKey();
  if (renewed === null) throw new Error('Nothing to sign in by is left in this browser.');
  return renewed;
}

/** The gateway, asked once, before there is a person to ask as (`data/client.ts`). */
function clientWith(token?: string): Sluice {
  return new Sluice({ url: window.location.origin, token, retries: 0 });
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
