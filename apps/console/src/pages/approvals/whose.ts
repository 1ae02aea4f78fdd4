import type { ListedStanding } from '@sluice/client';

/** Whose calls a standing approval is for. */
export function whose({ user, session_id: session }: Pick<ListedStanding, 'user' | 'session_id'>): string {
  if (session === '') return user;
  return user === '' ? `the session ${session}` : `${user} in the session ${session}`;
}
