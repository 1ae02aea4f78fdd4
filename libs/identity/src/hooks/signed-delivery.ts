import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { isJsonObject } from '@sluice/core';
import type { HookScheme, JsonValue } from '@sluice/core';

/** A webhook as it came: the headers of its scheme by their names in small letters, and the body as it is signed. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers that each scheme goes by: the first one has the signature. */
export const hookHeaders: Readonly<Record<HookScheme, readonly [string, ...string[]]>> = {
  github: ['x-hub-signature-256', 'x-github-delivery'],
  stripe: ['stripe-signature'],
  standard: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
};

const toleranceMs = 300_000;
const longestDeliveryId = 256;

/** The sender’s id of the delivery, the same each time that it is sent; null if it has none. */
export function deliveryId(scheme: HookScheme, { headers, body }: Delivery): string | null {
  const id = scheme === 'stripe' ? eventId(body) : headers[scheme === 'github' ? 'x-github-delivery' : 'webhook-id'];
  return typeof id === 'string' && id !== '' && id.length <= longestDeliveryId ? id : null;
}

/**
 * What is wrong with the delivery’s signature, as a sentence; null if one of the secrets made it. `at`: when it came,
 * milliseconds since the epoch. GitHub signs no time.
 */
export function deliveryProblem(
  scheme: HookScheme,
  delivery: Delivery,
  { secrets, at, slackMs = 0 }: { readonly secrets: readonly string[]; readonly at: number; readonly slackMs?: number },
): string | null {
  const [name] = hookHeaders[scheme];
  const written = delivery.headers[name];
  if (written === undefined) return `The delivery is not signed: it has no header ${name}.`;
  const signedAt = timeOf(scheme, delivery);
  if (signedAt !== null && !(Math.abs(at - signedAt) <= toleranceMs + slackMs))
    return 'The delivery was signed more than five minutes before it came, or its clock is off.';
  const given = signaturesIn(scheme, written);
  const isSigned = secrets.some((secret) => {
    const expected = expectedOf(scheme, delivery, secret);
    return expected !== null && given.some((one) => isEqual(one, expected));
  });
  return isSigned ? null : 'No secret of this hook has signed the delivery.';
}

function timeOf(scheme: HookScheme, { headers }: Delivery): number | null {
  if (scheme === 'github') return null;
  const text = scheme === 'standard' ? headers['webhook-timestamp'] : stripeParts(headers)['t']?.[0];
  return /^\d{1,12}$/.test(text ?? '') ? Number(text) * 1_000 : NaN;
}

function signaturesIn(scheme: HookScheme, written: string): readonly string[] {
  switch (scheme) {
    case 'github':
      return [written];
    case 'stripe':
      return stripeParts({ 'stripe-signature': written })['v1'] ?? [];
    case 'standard':
      return written.split(' ');
  }
}

/** Null for a secret that is none of the scheme. */
function expectedOf(scheme: HookScheme, delivery: Delivery, secret: string): string | null {
  const { headers, body } = delivery;
  switch (scheme) {
    case 'github':
      return `sha256=${hmac(secret, body)}`;
    case 'stripe':
      return hmac(secret, `${stripeParts(headers)['t']?.[0] ?? ''}.${body}`);
    case 'standard':
      try {
        return new Webhook(secret).sign(headers['webhook-id'] ?? '', new Date(timeOf(scheme, delivery) ?? NaN), body);
      } catch {
        return null;
      }
  }
}

/** `t=…,v1=…,v1=…`, by name. */
function stripeParts(headers: Delivery['headers']): Readonly<Record<string, readonly string[] | undefined>> {
  const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim().split('=', 2) as string[]);
  return Object.fromEntries(
    [...Map.groupBy(parts, ([name = '']) => name)].map(([name, all]) => [name, all.map(([, value = '']) => value)]),
  );
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

function eventId(body: string): JsonValue | undefined {
  try {
    const value = JSON.parse(body) as JsonValue;
    return isJsonObject(value) ? value['id'] : undefined;
  } catch {
    return undefined;
  }
}
