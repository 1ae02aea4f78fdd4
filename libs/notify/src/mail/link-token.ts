import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a link of a mail says. It decides nothing: it leads to the page of an approval, once. */
export interface MailLink {
  readonly approvalId: string;
  /** When it ends, milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Tells it from other links to the same page. */
  readonly id: string;
}

/** Characters of a token, at most. */
const longestToken = 2_000;
/** Bytes of a secret, at least. */
const leastSecret = 24;

/** Whether it is long enough to sign. */
export function isLinkSecret(secret: string): boolean {
  return Buffer.byteLength(secret) >= leastSecret;
}

/** The same for the same link, so that a mail that is sent again has the same one. */
export function linkToken({ approvalId, expiresAt, id }: MailLink, secret: string): string {
  const text = Buffer.from(JSON.stringify([approvalId, expiresAt, id])).toString('base64url');
  return `${text}.${signatureOf(text, secret)}`;
}

/** What the token says; null where it is not signed by this secret. Whether it has ended the caller looks. */
export function linkIn(token: string, secret: string): MailLink | null {
  const [text = '', signature = '', ...more] = token.split('.');
  if (token.length > longestToken || more.length > 0 || !isLinkSecret(secret)) return null;
  const expected = Buffer.from(signatureOf(text, secret));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const [approvalId, expiresAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, number, string];
  return { approvalId, expiresAt, id };
}

function signatureOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(`sluice mail link:${text}`).digest('base64url');
}
