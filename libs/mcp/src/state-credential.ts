/** What begins every state credential, so that none is taken for a token of the issuer. */
const prefix = 'sst_';

/**
 * A state credential as it is written: whose state, the proof that it is the present one, and the identity’s token
 * that it stands for.
 */
interface WrittenCredential {
  /** The session whose state it is. */
  readonly session: string;
  readonly secret: string;
  /** The credential of the issuer; null where no identity is configured. */
  readonly token: string | null;
}

/**
 * It fits where a bearer token fits: the token of the issuer is in it, since the log’s readers verify that one again.
 */
export function writeCredential({ session, secret, token }: WrittenCredential): string {
  return `${prefix}${session}.${secret}${token === null ? '' : `.${token}`}`;
}

/** Null for a text that is no state credential, such as a token of the issuer. */
export function readCredential(text: string): WrittenCredential | null {
  const found = /^sst_([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})(?:\.(.+))?$/.exec(text);
  if (found === null) return null;
  const [, session = '', secret = '', token] = found;
  return { session, secret, token: token ?? null };
}
