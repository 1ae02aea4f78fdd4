import { ref } from '../../record-schemas.js';
import { countOrNull, list, object, text, textOrNull, time, timeOrNull, whole } from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

export function subscriptionSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    SubscriptionList: object('Who is notified.', {
      subscriptions: list(ref('Subscription'), 'Those of the configuration in force, then those made over HTTP.'),
    }),
    Subscription: object('A receiver of notifications; never a secret.', {
      name: text('Names it.'),
      id: text('Names it in metrics and dead letters: its deliveries are those of the group `notifier.<id>`.'),
      kind: { enum: ['webhook', 'slack', 'mail'], description: 'How it is notified.' },
      made_by: { enum: ['configuration', 'http'], description: 'Where it is changed.' },
      url: textOrNull('Where webhooks go; null for the other kinds.'),
      events: list(text('An event.'), 'What it is sent.'),
      tenants: { type: ['array', 'null'], items: text('A tenant.'), description: 'Whose events; null for all.' },
      agents: { type: ['array', 'null'], items: text('An agent.'), description: 'Of whose runs; null for all.' },
      outcomes: { type: ['array', 'null'], items: text('An outcome.'), description: 'Which outcomes; null for all.' },
      include: list(text('A text.'), 'What it is sent of runs beside the rest: the question, the answer.'),
      retry_seconds: whole('How long a delivery is tried again, seconds.'),
      created_at: timeOrNull('When it was made; null for one of the configuration.'),
      created_by: textOrNull('Who made it; null for one of the configuration.'),
      behind: countOrNull('Records that its deliveries have not finished; null where that cannot be read.'),
    }),
    SubscriptionSecret: object('A secret, to be had from here and never again.', {
      name: text('Names the subscription.'),
      id: text('Names it in metrics.'),
      secret: text('Signs its webhooks, as Standard Webhooks has secrets.'),
    }),
    DeletedSubscription: object('It is no more.', { name: text('Named it.'), status: { const: 'deleted' } }),
    DeliveryList: object('The latest deliveries of a subscription.', {
      attempts: list(ref('DeliveryAttempt'), 'The latest 50, the newest first.'),
      dead_letters: list(
        ref('DeadDelivery'),
        'What it did not receive: POST /v1/dead-letters/{id}/redrive sends again.',
      ),
    }),
    DeliveryAttempt: object('An attempt.', {
      id: text('Names the event.'),
      event: text('What happened.'),
      subject: text('What it is about.'),
      at: time('When it was tried.'),
      failure: textOrNull('Why it was not received; null where it was.'),
    }),
    DeadDelivery: object('A notification that was not received in time.', {
      id: text('Names the dead letter.'),
      code: text('Why.'),
      failed_at: time('When it was dead-lettered.'),
    }),
  };
}
