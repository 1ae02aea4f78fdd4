import { consoleKey, forgetKey, rememberSession, rememberedSession, signedTime } from './device-key.js';
import { oidcSignIn } from './oidc.js';
import type { OidcSettings } from './oidc.js';

/** What the gateway says of itself before a person is signed in (`GET /v1/console`). */
export interface ConsoleInformation {
  readonly version: string;
  readonly sign_in: {
    /** `local`: by a one-time link; `oidc`: at the issuer; `token`: by a token or an API key that is pasted. */
    readonly kind: 'local' | 'oidc' | 'token';
    readonly oidc?: OidcSettings | null;
  };
  readonly bus: 'embedded' | 'kafka';
}

/** Who is signed in (`GET /v1/me`). */
export interface Me {
  readonly tenant_id: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly is_operator: boolean;
  readonly is_approver: boolean;
}

type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'signed-out'; readonly information: ConsoleInformation; readonly message: string | null }
  | { readonly kind: 'signed-in'; readonly information: ConsoleInformation; readonly me: Me };

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
  private information: ConsoleInformation | null = null;
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
        this.information = await ask<ConsoleInformation>('/v1/console');
        break;
      } catch (error) {
        this.set({ kind: 'unreachable', message: sentence(error) });
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    try {
      if (code !== null) return await this.signInByLink(code);
      const { kind, oidc } = this.information.sign_in;
      if (kind === 'oidc' && oidc) return await this.resume(() => oidcSignIn(oidc, 'resume'));
      if (kind === 'local') return await this.resume(renewedByKey);
      this.signOut();
    } catch (error) {
      this.signOut(sentence(error));
    }
  }

  async signInByLink(code: string): Promise<void> {
    const key = await consoleKey();
    const answer = await ask<{ token: string; expires_at: number; session: string | null }>('/v1/console/sign-in', {
      code,
      public_key: key?.publicKey ?? null,
    });
    if (answer.session !== null) await rememberSession(answer.session);
    await this.enter({ token: answer.token, expiresAt: answer.expires_at }, renewedByKeyOrFail);
  }

  /** By a token or an API key that the person pasted. */
  async signInByToken(token: string): Promise<void> {
    await this.enter({ token, expiresAt: null }, null);
  }

  /** Leaves the page for the issuer. */
  async signInAtIssuer(): Promise<void> {
    const oidc = this.information?.sign_in.oidc;
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
    const me = await ask<Me>('/v1/me', undefined, signedIn.token);
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
  const { at, signature } = await signedTime();
  const answer = await ask<{ token: string; expires_at: number }>('/v1/console/renew', {
    session: remembered,
    at,
    signature,
  });
  return { token: answer.token, expiresAt: answer.expires_at };
}

async function renewedByKeyOrFail(): Promise<SignedIn> {
  const renewed = await renewedByKey();
  if (renewed === null) throw new Error('Nothing to sign in by is left in this browser.');
  return renewed;
}

/** A request before the client has a credential; throws an error with the gateway’s sentence. */
async function ask<T>(path: string, body?: unknown, token?: string): Promise<T> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => null)) as { readonly detail?: string } | null;
  throw new Error(problem?.detail ?? `The gateway answered ${response.status}.`);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
