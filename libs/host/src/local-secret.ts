import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What the secret vouches for in a browser: a code to sign in with, a token of a page, and a session to renew it. */
type Ticket = 'sign-in' | 'console' | 'session';

/** What a ticket says, and until when it holds, milliseconds since the epoch. */
interface TicketContent {
  readonly expiresAt: number;
  readonly [name: string]: string | number;
}

/** Longest ticket that is read, in characters. */
const longestTicket = 1_024;

/**
 * What proves without an identity that a request comes from who runs this installation, and not from any program on
 * the machine. It makes the tokens of the links to runs too, each for one link alone, and the tickets by which a
 * browser signs in.
 */
export class LocalSecret {
  private readonly digest: Buffer | null;
  /** Makes the tokens of links. Without a secret it is this process's own, and they hold as long as the process. */
  private readonly linkKey: Buffer;
  private readonly ticketKey: Buffer;

  constructor(secret: string | null) {
    this.digest = secret === null ? null : digestOf(secret);
    const source = secret ?? randomBytes(32);
    this.linkKey = createHmac('sha256', source).update('links of runs').digest();
    this.ticketKey = createHmac('sha256', source).update('tickets of browsers').digest();
  }

  /** Without one, what needs it is closed. */
  get isKnown(): boolean {
    return this.digest !== null;
  }

  /**
   * Whether an `authorization` header has it, or the token of a page that signed in, as its bearer token. Takes the
   * same time for every wrong one.
   */
  isIn(authorization: string | undefined, now: number): boolean {
    const given = bearerOf(authorization);
    return given !== undefined && (this.is(given) || this.read('console', given, now) !== null);
  }

  /** When the bearer token stops to count; null for the secret itself, and for what does not count. */
  expiryIn(authorization: string | undefined, now: number): number | null {
    return this.read('console', bearerOf(authorization) ?? '', now)?.expiresAt ?? null;
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

  /** A text with this content, which only a holder of the secret can make. */
  issue(ticket: Ticket, content: TicketContent): string {
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${ticket}_${text}.${this.macOf(ticket, text)}`;
  }

  /** What a ticket of this kind says; null where the secret made no such one, and where it has expired. */
  read(ticket: Ticket, given: string, now: number): TicketContent | null {
    if (this.digest === null || given.length > longestTicket) return null;
    const [, text = '', mac = ''] = /^[a-z-]+_([\w-]+)\.([\w-]+)$/.exec(given) ?? [];
    if (!timingSafeEqual(digestOf(mac), digestOf(this.macOf(ticket, text)))) return null;
    const content = JSON.parse(Buffer.from(text, 'base64url').toString()) as TicketContent;
    return content.expiresAt > now ? content : null;
  }

  private macOf(ticket: Ticket, text: string): string {
    return createHmac('sha256', this.ticketKey).update(`${ticket}.${text}`).digest('base64url');
  }
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
