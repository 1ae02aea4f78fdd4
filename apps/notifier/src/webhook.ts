import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import type { Notification } from '@sluice/contracts';

/** A webhook as it is sent, but for what each attempt signs. */
interface Unsigned {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

/** Where events come from, where no address of the console is configured. */
const anywhere = 'urn:sluice:notifier';

/** The event as CloudEvents 1.0 has it, in one JSON. The same each time it is sent. */
export function cloudEventOf(notification: Notification, baseUrl: string | undefined): Unsigned {
  const { notificationId: id, event, subject, at, stage, data } = notification;
  const made = new CloudEvent({
    ...{ id, source: baseUrl ?? anywhere, type: `sluice.${event}`, subject, time: new Date(at).toISOString() },
    ...{ datacontenttype: 'application/json', data: JSON.parse(data) as object },
    // Sorts as the events of a run do.
    sequence: `${String(at).padStart(15, '0')}.${String(stage)}`,
  });
  const { headers, body } = HTTP.structured(made);
  return { id, contentType: String(headers['content-type']), body: String(body) };
}

/** The headers of Standard Webhooks: one signature by each secret. Throws for a secret that is not base64. */
export function signedHeaders(
  { id, contentType, body }: Unsigned,
  secrets: readonly string[],
  now: number,
): Readonly<Record<string, string>> {
  const at = new Date(now);
  return {
    'content-type': contentType,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}
