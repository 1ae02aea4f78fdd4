import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HTTP } from 'cloudevents';
import type { CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../check/observed.ts';
import type { Seen } from './kafka-watch.ts';

const secret = `whsec_${Buffer.alloc(32, 'f').toString('base64')}`;

/** What a notifier has in its environment. */
export const receiverVariables: Readonly<Record<string, string>> = { FAULTS_WEBHOOK_SECRET: secret };

/** What the configuration says of the receiver at this address. */
export const notifyingConfiguration = (url: string): string => `
notify:
  private_hosts: ['${new URL(url).host}']
  subscriptions:
    faults: { url: '${url}', events: [run.ended, run.failed, dead_letter], secret_env: FAULTS_WEBHOOK_SECRET }
`;

export interface Receiver {
  readonly url: string;
  /** All that it took, as often as it came. */
  readonly webhooks: readonly WebhookEvent[];
  close(): Promise<void>;
}

/**
 * A receiver of webhooks, by the libraries of both standards. The notifier may be killed when a webhook is here, before
 * it has read that it was taken.
 */
export async function startReceiver(seen: Seen): Promise<Receiver> {
  const webhooks: WebhookEvent[] = [];
  const http = createServer((request, response) => {
    bodyOf(request).then(
      (body) => {
        webhooks.push(eventOf(request, body));
        // What killed the notifier is written to nobody.
        seen('webhook received', request.socket.remotePort ?? 0);
        response.writeHead(204).end();
      },
      // The notifier or the line went away in the middle: nothing was taken.
      (error: unknown) => response.destroy(error as Error),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/webhooks`,
    webhooks,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function eventOf({ headers }: IncomingMessage, body: string): WebhookEvent {
  const { id, type, subject = '' } = HTTP.toEvent({ headers, body }) as CloudEvent;
  let isSigned = true;
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } catch {
    isSigned = false;
  }
  return { id, type, subject, isSigned: isSigned && headers['webhook-id'] === id };
}
