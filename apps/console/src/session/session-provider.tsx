import { createContext, use, useEffect, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { queries } from '../data/queries.js';
import { Problem } from '../ui/states.js';
import { session } from './session.js';
import type { ConsoleAbout, Me } from '@sluice/client';
import { SignInPage } from './sign-in-page.js';

interface SignedIn {
  readonly information: ConsoleAbout;
  readonly me: Me;
}

export const SignedInContext = createContext<SignedIn | null>(null);

/** Who is signed in, and what the gateway says of itself. */
export function useSignedIn(): SignedIn {
  const found = use(SignedInContext);
  if (found === null) throw new Error('Nobody is signed in here.');
  return found;
}

/** How often what the person may do is read again. */
const refreshMs = 30_000;

/** Shows the pages to a person who is signed in, and to all others how to sign in. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const state = useSyncExternalStore(
    (listener) => session.subscribe(listener),
    () => session.state,
  );
  useEffect(() => void session.start(), []);
  useEffect(() => {
    // Where the gateway is away, the next time will do.
    const timer = setInterval(() => void session.refresh().catch(() => undefined), refreshMs);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (state.kind === 'signed-out') queries.clear();
  }, [state.kind]);
  switch (state.kind) {
    case 'starting':
      return null;
    case 'unreachable':
      return <Problem title="The gateway cannot be reached" message={`${state.message} It is asked again.`} />;
    case 'signed-out':
      return <SignInPage information={state.information} message={state.message} />;
    case 'signed-in':
      return <SignedInContext value={state}>{children}</SignedInContext>;
  }
}
