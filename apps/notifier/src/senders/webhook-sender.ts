import type { NotifyReceiver, NotifySubscription } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import { Receiver } from '../receiver.js';
import { cloudEventOf, signedHeaders } from '../webhook.js';
import { DeliveryError, secretOf } from './sender.js';
import type { Sender, Sending } from './sender.js';

type Webhook = NotifyReceiver & { readonly kind: 'webhook' };

/** Sends webhooks: CloudEvents, signed as Standard Webhooks. */
export class WebhookSender implements Sender<Webhook> {
  private readonly receiver: Receiver;

  constructor(
    privateHosts: readonly string[],
    private readonly runtime: Pick<Runtime, 'environment' | 'clock'>,
  ) {
    this.receiver = new Receiver(privateHosts);
  }

  async send({ record, receiver, notify }: Sending<Webhook>, signal: AbortSignal): Promise<void> {
    const webhook = cloudEventOf(record, notify.baseUrl);
    const { environment, clock } = this.runtime;
    const headers = signedHeaders(webhook, receiver.secrets ?? secretsOf(receiver, environment.secret), clock.now());
    await this.receiver.send(receiver.url, { headers, body: webhook.body }, signal);
  }

  close(): Promise<void> {
    return this.receiver.close();
  }
}

/** The secrets that sign, the present one first. Throws DeliveryError that names the variable, and never the value. */
export function secretsOf(
  { secretEnv, previousSecretEnv }: Pick<NotifySubscription, 'secretEnv' | 'previousSecretEnv'>,
  secret: (variable: string) => string | undefined,
): readonly string[] {
  const variables = [secretEnv, ...(previousSecretEnv === undefined ? [] : [previousSecretEnv])];
  return variables.map((variable) => signingSecret(variable, secret));
}

function signingSecret(variable: string, secret: (variable: string) => string | undefined): string {
  const value = secretOf(variable, secret);
  const text = value.replace(/^whsec_/, '');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text && bytes.byteLength >= 24 && bytes.byteLength <= 64) return value;
  const found = `The variable ${variable} holds no secret of 24 to 64 bytes in base64.`;
  throw new DeliveryError('secret', `${found} Make one with: sluice notify secret`);
}
