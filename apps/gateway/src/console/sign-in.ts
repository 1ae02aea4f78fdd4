import { createPublicKey, randomUUID, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { namesInClone, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { isOpen } from '../local-access.js';
import { Refusal } from '../refusal.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const tokenMs = dayMs / 2;
const sessionMs = 30 * dayMs;
/** How far the time in a renewal may be from this clock. */
const skewMs = minuteMs;
/** Attempts with codes and sessions that do not hold, in a minute; what holds is taken beyond it. */
const mostFailures = 30;

/** What a page holds when it is signed in; the session only where it gave a key. */
interface SignedIn {
  readonly token: string;
  readonly expires_at: number;
  readonly session: string | null;
  readonly session_expires_at: number | null;
}

/**
 * Signs a page of the console in where no identity is configured: a code, which the command line prints and which
 * counts once, becomes a token that stands for the local secret. A page that gave the public part of a key that its
 * browser keeps gets a session too, and renews its token with a signature by that key: neither alone is enough.
 */
@Injectable()
export class SignIn {
  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {}

  /**
   * `publicKey`: for ES256, as JWK, or null. Throws a Refusal for another one, and where the code does not hold or
   * was used.
   */
  async byCode(code: string, publicKey: unknown): Promise<SignedIn> {
    this.requireLocal();
    const { clock, localSecret, log } = this.runtime;
    const now = clock.now();
    const key = publicKey === null ? null : keyOf(publicKey);
    if (publicKey !== null && key === null) throw new Refusal(400, 'invalid_request', noKey);
    const read = localSecret.read('sign-in', code, now);
    if (read === null || !(await this.isFirst(`console/sign-in/${read['id']}`, read.expiresAt - now)))
      return this.fail(`This link does not hold: each signs in once, within 10 minutes. ${this.forLink}`);
    log.info('a browser signed in to the console');
    if (key === null) return { ...this.token(now), session: null, session_expires_at: null };
    const expiresAt = now + sessionMs;
    const session = localSecret.issue('session', { expiresAt, ...coordinatesOf(key) });
    return { ...this.token(now), session, session_expires_at: expiresAt };
  }

  /** `signature`: by the session's key over the session, a dot and `at`. Each counts once. */
  async renew(session: string, at: number, signature: string): Promise<SignedIn> {
    this.requireLocal();
    const { clock, localSecret } = this.runtime;
    const now = clock.now();
    const read = localSecret.read('session', session, now);
    const key = read === null ? null : keyOf({ ...onCurve, x: read['x'], y: read['y'] });
    const signed = Buffer.from(`${session}.${at}`);
    const isSigned =
      key !== null && verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    if (read === null || !isSigned) return this.fail(`This browser is not signed in, or no longer. ${this.forLink}`);
    if (Math.abs(now - at) > skewMs) return this.fail(lateRenewal);
    if (!(await this.isFirst(`console/renew/${read['x']}/${at}`, 2 * skewMs))) return this.fail(lateRenewal);
    return { ...this.token(now), session, session_expires_at: read.expiresAt };
  }

  private get forLink(): string {
    const { command } = this.runtime.environment.calledAs ?? namesInClone;
    return `Run \`${command} console\` where Sluice runs, and open the link that it prints.`;
  }

  private token(now: number): Pick<SignedIn, 'token' | 'expires_at'> {
    const expiresAt = now + tokenMs;
    return { token: this.runtime.localSecret.issue('console', { expiresAt, id: randomUUID() }), expires_at: expiresAt };
  }

  /** Whether this key is used for the first time, over all instances. */
  private async isFirst(key: string, ttlMs: number): Promise<boolean> {
    const owner = randomUUID();
    const claim = await this.runtime.ledger.claim({ key, owner, now: this.runtime.clock.now(), ttlMs });
    return claim.owner === owner;
  }

  private requireLocal(): void {
    if (!isOpen(this.runtime)) throw new Refusal(400, 'invalid_request', hasIdentity);
    if (!this.runtime.localSecret.isKnown) throw new Refusal(403, 'authz_denied', noSecret);
  }

  private async fail(message: string): Promise<never> {
    const { log, rates } = this.runtime;
    const counted = await rates.take({ key: 'console/failures', limit: mostFailures, windowMs: minuteMs });
    if (!counted.within) {
      const seconds = Math.max(1, Math.ceil(counted.retryAfterMs / 1_000));
      const busy = `Too many attempts to sign in have failed. Try again in ${seconds} s.`;
      throw new Refusal(429, 'rate_limited', busy, { 'retry-after': String(seconds) });
    }
    log.warn({ reason: message }, 'an attempt to sign in to the console failed');
    throw new Refusal(401, 'authz_denied', message);
  }
}

const onCurve = { kty: 'EC', crv: 'P-256' } as const;

/** Null for what is no public key on the curve. Other members of the JWK count for nothing. */
function keyOf(given: unknown): KeyObject | null {
  const { kty, crv, x, y } = Object(given) as Readonly<Record<string, unknown>>;
  if (kty !== onCurve.kty || crv !== onCurve.crv || typeof x !== 'string' || typeof y !== 'string') return null;
  try {
    return createPublicKey({ key: { ...onCurve, x, y }, format: 'jwk' });
  } catch {
    return null;
  }
}

/** As Node writes them, whatever the page wrote. */
function coordinatesOf(key: KeyObject): { readonly x: string; readonly y: string } {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return { x, y };
}

const lateRenewal =
  'The renewal came too late or twice, or the clock of this browser is more than a minute off. Try again.';
const noKey = 'public_key must be a public key of ECDSA P-256 as JWK: kty, crv, x and y.';
const hasIdentity =
  'An identity is configured, so no link signs in here: send a credential of that identity. GET /v1/console says which.';
const noSecret =
  'This gateway has no local secret, so there are no links to sign in by. Name a file that holds one with SLUICE_LOCAL_SECRET_FILE, or configure an identity.';
