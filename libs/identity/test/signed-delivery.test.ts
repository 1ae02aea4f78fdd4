import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sign } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { deliveryId, deliveryProblem } from '@sluice/identity';
import type { Delivery } from '@sluice/identity';
import type { HookScheme } from '@sluice/core';

const now = 1_800_000_000_000;
const body = JSON.stringify({ id: 'evt_1', object: 'event', text: 'Grüße, “you”\n' });
const standard = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** A delivery as the library of its sender signs it. */
async function signed(scheme: HookScheme, secret: string, at = now): Promise<Delivery> {
  switch (scheme) {
    case 'github': {
      const headers = { 'x-hub-signature-256': await sign(secret, body), 'x-github-delivery': 'd-1' };
      return { body, headers };
    }
    case 'stripe': {
      const timestamp = Math.floor(at / 1_000);
      const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
      return { body, headers: { 'stripe-signature': header } };
    }
    case 'standard': {
      const signature = new Webhook(secret).sign('msg_1', new Date(at), body);
      const time = String(Math.floor(at / 1_000));
      return { body, headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': signature } };
    }
  }
}

const secretFor = (scheme: HookScheme): string =>
  scheme === 'standard' ? standard() : `secret ${randomBytes(8).toString('hex')}`;
const schemes = ['github', 'stripe', 'standard'] as const;

describe.each(schemes)('a delivery that the library of %s signs', (scheme) => {
  it('is taken by the secret, and by the former one while it changes', async () => {
    const secret = secretFor(scheme);
    const delivery = await signed(scheme, secret);
    expect(deliveryProblem(scheme, delivery, { secrets: [secret], at: now })).toBeNull();
    expect(deliveryProblem(scheme, delivery, { secrets: [secretFor(scheme), secret], at: now })).toBeNull();
    expect(deliveryId(scheme, delivery)).toBe({ github: 'd-1', stripe: 'evt_1', standard: 'msg_1' }[scheme]);
  });

  it('is refused by another secret, with another body, without a signature and with half of one', async () => {
    const secret = secretFor(scheme);
    const delivery = await signed(scheme, secret);
    const problem = (one: Delivery, secrets = [secret]) => deliveryProblem(scheme, one, { secrets, at: now });
    expect(problem(delivery, [secretFor(scheme)])).toMatch(/^No secret/);
    expect(problem(delivery, [])).toMatch(/^No secret/);
    expect(problem({ ...delivery, body: `${body} ` })).toMatch(/^No secret/);
    expect(problem({ ...delivery, headers: {} })).toMatch(/is not signed/);
    const [[name = '', value = ''] = []] = Object.entries(delivery.headers);
    expect(problem({ ...delivery, headers: { ...delivery.headers, [name]: value.slice(0, -2) } })).not.toBeNull();
  });
});

it.each(['stripe', 'standard'] as const)(
  'a delivery of %s holds for five minutes by its signed time',
  async (scheme) => {
    const secret = secretFor(scheme);
    const delivery = await signed(scheme, secret);
    const at = (later: number, slackMs = 0) =>
      deliveryProblem(scheme, delivery, { secrets: [secret], at: now + later, slackMs });
    expect([at(299_000), at(-299_000), at(301_000, 30_000)]).toEqual([null, null, null]);
    expect([at(301_000), at(-301_000)]).toEqual(Array(2).fill(expect.stringMatching(/five minutes/)));
    const headers = { ...delivery.headers };
    if (scheme === 'standard') headers['webhook-timestamp'] = String(now / 1_000 + 600);
    else headers['stripe-signature'] = (headers['stripe-signature'] ?? '').replace(/t=\d+/, `t=${now / 1_000 + 600}`);
    const moved = deliveryProblem(scheme, { ...delivery, headers }, { secrets: [secret], at: now + 600_000 });
    expect(moved).toMatch(/^No secret/);
  },
);
