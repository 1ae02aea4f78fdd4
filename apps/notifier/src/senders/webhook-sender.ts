import type { NotifyReceiver, NotifySubscription } from '@sluice/core';
import { PerServerLimit } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { connections, Receiver } from '../receiver.js';
import { cloudEventOf, signedHeaders } from '../webhook.js';
import { DeliveryError, secretOf } from './sender.js';
import type { Sender, Sending } from './sender.js';

type Webhook = NotifyReceiver & { readonly kind: 'webhook' };

/** Sends webhooks: CloudEvents, signed as Standard Webhooks. */
export class WebhookSender implements Sender<Webhook> {
  private readonly receiver: Receiver;
  private readonly limit = new PerServerLimit();

  constructor(
    privateHosts: readonly string[],
    private readonly runtime: Pick<Runtime, 'environment' | 'clock'>,
  ) {
    this.receiver = new Receiver(privateHosts);
  }

  async send({ record, receiver, notify }: Sending<Webhook>, signal: AbortSignal): Promise<void> {
    const webhook = cloudEventOf(record, notify.baseUrl);
    const { environment, clock } = this.runtime;
    const send = async (): Promise<void> => {
      const secrets = receiver.secrets ?? secretsOf(receiver, environment.secret);
      const headers = signedHeaders(webhook, secrets, clock.now());
      await this.receiver.send(receiver.url, { headers, body: webhook.body }, signal);
    };
    // Those that wait for a connection have the whole time to be answered, and are signed when they are sent.
    await this.limit.in(receiver.url, signal, send, connections);
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
