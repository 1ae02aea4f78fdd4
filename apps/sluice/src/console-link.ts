import { randomUUID } from 'node:crypto';
import type { LocalSecret } from '@sluice/host';

/** How long a link can be opened. */
const linkMs = 10 * 60_000;

/**
 * The console’s address with a code that signs one browser in, once. It stands in the fragment, which no browser sends
 * to a server, so no log has it.
 */
export function signInLink(url: string, secret: LocalSecret, now: number): string {
  const code = secret.issue('sign-in', { expiresAt: now + linkMs, id: randomUUID() });
  return `${url}/#sign-in=${code}`;
}

export const aboutLink = 'It signs one browser in, once, within 10 minutes.';
