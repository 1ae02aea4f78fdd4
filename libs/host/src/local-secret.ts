import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * What proves without an identity that a request comes from who runs this installation, and not from any program on
 * the machine. It makes the tokens of the links to runs too, each for one link alone.
 */
export class LocalSecret {
  private readonly digest: Buffer | null;
  /** Makes the tokens of links. Without a secret it is this process's own, and they hold as long as the process. */
  private readonly linkKey: Buffer;

  constructor(secret: string | null) {
    this.digest = secret === null ? null : digestOf(secret);
    const linkSource = secret ?? randomBytes(32);
    this.linkKey = createHmac('sha256', linkSource).update('links of runs').digest();
  }

  /** Without one, what needs it is closed. */
  get isKnown(): boolean {
    return this.digest !== null;
  }

  /** Whether an `authorization` header has it as its bearer token. Takes the same time for every wrong one. */
  isIn(authorization: string | undefined): boolean {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    return given !== undefined && this.is(given);
  }

  is(text: string): boolean {
    return this.digest !== null && timingSafeEqual(digestOf(text), this.digest);
  }

  /** The token of a link, which is good for what the link names and for nothing else. */
  tokenFor(named: readonly (string | number)[]): string {
    return createHmac('sha256', this.linkKey).update(JSON.stringify(named)).digest('base64url');
  }

  isTokenFor(named: readonly (string | number)[], token: string): boolean {
    return timingSafeEqual(digestOf(token), digestOf(this.tokenFor(named)));
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
