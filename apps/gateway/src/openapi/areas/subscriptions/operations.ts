import { at } from '../../example.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';

const subscription = {
  ...{ name: 'desk', id: 'http-0a1b2c3d4e', kind: 'webhook', made_by: 'http', url: 'https://hooks.example.org/sluice' },
  ...{
    events: ['run.failed'],
    tenants: ['acme'],
    agents: null,
    outcomes: null,
    include: [],
    retry_seconds: 86_400,
    created_at: at,
    created_by: 'user:ann',
    behind: 0,
  },
};
const secret = { name: 'desk', id: 'http-0a1b2c3d4e', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
const places = { name: 'Names the subscription.' };
const named = { tag: 'Notifications', who: 'operator' } as const;

/** Who is notified of what, for operators (docs/notifications.md). */
export const subscriptionOperations: readonly Operation[] = [
  {
    ...{ ...named, id: 'listSubscriptions', client: 'subscriptions.list', method: 'get', path: '/v1/subscriptions' },
    summary: 'List who is notified',
    description: 'Those of the configuration in force and those that were made over HTTP. For operators.',
    answers: json('SubscriptionList', 'All of them.'),
    example: { answers: { 200: { subscriptions: [subscription] } } },
    refusals: [401, 403, 500, 503],
  },
  {
    ...{ ...named, id: 'createSubscription', client: 'subscriptions.create' },
    ...{ method: 'post', path: '/v1/subscriptions' },
    summary: 'Make a subscription',
    description:
      'Webhooks of what happens from now on, signed with the secret that the answer has and no later one repeats. The configuration needs a section `notify`. For operators.',
    body: 'NewSubscription',
    answers: { 201: { meaning: 'It is there; the notifier begins within seconds.', json: 'SubscriptionSecret' } },
    example: {
      body: { name: 'desk', url: 'https://hooks.example.org/sluice', events: ['run.failed'], tenants: ['acme'] },
      answers: { 201: secret },
    },
    refusals: [400, 401, 403, 409, 413, 415, 500, 503],
  },
  {
    ...{ ...named, id: 'changeSubscription', client: 'subscriptions.change' },
    ...{ method: 'patch', path: '/v1/subscriptions/{name}', places },
    summary: 'Change a subscription that was made over HTTP',
    body: 'SubscriptionChange',
    answers: json('Subscription', 'As it is now.'),
    example: { places: { name: 'desk' }, body: { events: ['run.failed'] }, answers: { 200: subscription } },
    refusals: [400, 401, 403, 404, 413, 415, 500, 503],
  },
  {
    ...{ ...named, id: 'deleteSubscription', client: 'subscriptions.delete' },
    ...{ method: 'delete', path: '/v1/subscriptions/{name}', places },
    summary: 'Delete a subscription that was made over HTTP',
    description: 'Nothing more is sent, and what waits to be sent is left out. For operators.',
    answers: json('DeletedSubscription', 'It is no more.'),
    example: { places: { name: 'desk' }, answers: { 200: { name: 'desk', status: 'deleted' } } },
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{ ...named, id: 'renewSubscriptionSecret', client: 'subscriptions.renewSecret' },
    ...{ method: 'post', path: '/v1/subscriptions/{name}/secret', places },
    summary: 'Give a subscription a new secret',
    description: 'The former one signs too for a day. For operators.',
    answers: json('SubscriptionSecret', 'The new secret.'),
    example: { places: { name: 'desk' }, answers: { 200: secret } },
    refusals: [400, 401, 403, 404, 500, 503],
  },
  {
    ...{ ...named, id: 'listDeliveries', client: 'subscriptions.deliveries' },
    ...{ method: 'get', path: '/v1/subscriptions/{name}/deliveries', places },
    summary: 'List the latest deliveries of a subscription',
    description: 'Attempts, and what became a dead letter within a week. For operators.',
    answers: json('DeliveryList', 'The deliveries.'),
    example: {
      places: { name: 'desk' },
      answers: {
        200: {
          attempts: [{ id: 'evt_5c1d', event: 'run.failed', subject: 'run-17', at, failure: 'timeout' }],
          dead_letters: [{ id: '0-7', code: 'retries_exhausted', failed_at: at }],
        },
      },
    },
    refusals: [401, 403, 404, 500, 503],
  },
];
