import type { ConsoleClient } from '@sluice/client';

interface SignedIn {
  readonly token: string;
  readonly expiresAt: number | null;
}

/** Says, within this tab alone, that the person signed in at the issuer before, so that a reload goes there again. */
const marker = 'sluice-signed-in-at-issuer';

/**
 * Authorization code with PKCE. `redirect` leaves the page for the issuer. `resume` finishes such a sign-in where the
 * address has its code, goes to the issuer again where this tab was signed in, and else gives null.
 */
export async function oidcSignIn(settings: ConsoleClient, how: 'redirect' | 'resume'): Promise<SignedIn | null> {
  const { InMemoryWebStorage, UserManager, WebStorageStateStore } = await import('oidc-client-ts');
  const manager = new UserManager({
    authority: settings.issuer,
    client_id: settings.client_id,
    redirect_uri: `${window.location.origin}/`,
    scope: settings.scopes.join(' '),
    ...(settings.resource === null ? {} : { resource: settings.resource }),
    // Only what the code belongs to is kept while the person is at the issuer; tokens stay in memory.
    stateStore: new WebStorageStateStore({ store: window.sessionStorage }),
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    automaticSilentRenew: false,
    loadUserInfo: false,
  });
  const query = new URLSearchParams(window.location.search);
  if (how === 'resume' && query.has('state') && (query.has('code') || query.has('error'))) {
    const user = await manager.signinRedirectCallback().finally(() => window.history.replaceState(null, '', '/'));
    window.sessionStorage.setItem(marker, 'yes');
    const back = user.state as { readonly path?: string } | undefined;
    if (back?.path !== undefined && /^\/(?!\/)/.test(back.path)) window.history.replaceState(null, '', back.path);
    return { token: user.access_token, expiresAt: user.expires_at === undefined ? null : user.expires_at * 1_000 };
  }
  if (how === 'resume' && window.sessionStorage.getItem(marker) === null) return null;
  window.sessionStorage.removeItem(marker);
  await manager.signinRedirect({ state: { path: window.location.pathname + window.location.search } });
  return new Promise(() => undefined);
}
