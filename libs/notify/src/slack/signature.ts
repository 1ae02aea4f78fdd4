import { createHmac, timingSafeEqual } from 'node:crypto';

/** A request that is older, or that much ahead, may be a copy of a former one. */
const longestSeconds = 5 * 60;

/** What of a request its signature is about. */
export interface SlackRequest {
  /** The header `x-slack-request-timestamp`. */
  readonly timestamp: string | undefined;
  /** The header `x-slack-signature`. */
  readonly signature: string | undefined;
  readonly body: string;
}

/**
 * Whether Slack signed the request by this secret, within five minutes: version 0 of its signatures, an HMAC with
 * SHA-256 over version, time and body.
 */
export function isSignedBySlack({ timestamp, signature, body }: SlackRequest, secret: string, now: number): boolean {
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > longestSeconds) return false;
  const expected = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
