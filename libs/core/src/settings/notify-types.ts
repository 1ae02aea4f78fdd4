/** The document with the subscriptions that were made over HTTP, and their secrets: it is sealed where others are. */
export const subscriptionsDocument = 'notify/subscriptions';

/** What subscriptions can be notified of. */
export const notificationEvents = [
  'run.ended',
  'run.failed',
  'approval.waiting',
  'approval.counted',
  'approval.escalated',
  'approval.ended',
  'dead_letter',
  'budget.reached',
  'configuration.refused',
  'server.held_back',
] as const;

export type NotificationEvent = (typeof notificationEvents)[number];

/** What a notification leaves out unless its subscription includes it. */
export const includedTexts = ['question', 'answer'] as const;

export type IncludedText = (typeof includedTexts)[number];

/** What a message about an approval can show. */
export const approvalTexts = ['question', 'arguments'] as const;

/** Whose events a receiver gets. */
export interface NotifyFilter {
  readonly id: string;
  readonly events: readonly NotificationEvent[];
  /** Absent for all, those of no tenant too. */
  readonly tenants?: readonly string[];
  /** Whose runs, by the names of agents; absent for all, and for what is of no run. */
  readonly agents?: readonly string[];
  /** Outcomes, error codes and decisions of the events that it gets; absent for all. */
  readonly outcomes?: readonly string[];
  /** How long a delivery is tried again, milliseconds. */
  readonly retryMs: number;
}

/** One receiver of webhooks. The secrets themselves are nowhere in a configuration. */
export interface NotifySubscription extends NotifyFilter {
  readonly url: string;
  /** The variable with the secret that signs. */
  readonly secretEnv: string;
  /** The variable with the former secret, which signs too while receivers change over; absent where none does. */
  readonly previousSecretEnv?: string;
  /** The secrets themselves, where it was made over HTTP and no variable has them. */
  readonly secrets?: readonly string[];
  readonly include: readonly IncludedText[];
}

/** A channel of Slack in which approvals are asked for. */
export interface SlackChannel extends NotifyFilter {
  /** The id of the channel, or of a person. */
  readonly channel: string;
  /** The address of Slack’s Web API, with its last slash. */
  readonly apiUrl: string;
  /** The variable with the bot’s token. */
  readonly tokenEnv: string;
  /** How decisions are made there; absent where messages only link to the console. */
  readonly deciding?: SlackDeciding;
  readonly show: readonly (typeof approvalTexts)[number][];
}

interface SlackDeciding {
  /** The variable with the secret that Slack signs its requests with. */
  readonly signingSecretEnv: string;
  /** The variable with the API key of the service that decides for persons. */
  readonly credentialEnv: string;
  /** Who is who: by workspace and user of Slack, as in `T0123456789/U0123456789`, a person. */
  readonly users: Readonly<Record<string, string>>;
}

/** Persons who are mailed that calls wait. */
export interface MailReceiver extends NotifyFilter {
  readonly from: string;
  readonly to: readonly string[];
  /** The variable with the address of the mail server, with its user and password. */
  readonly serverEnv: string;
  /** The variable with the secret that signs links. */
  readonly linkSecretEnv: string;
  /** How long a link leads to its page, milliseconds. */
  readonly linkMs: number;
}

export interface NotifySettings {
  /** Where the console is served, for links; absent for none. */
  readonly baseUrl?: string;
  /** Host, or host:port, that may be reached though it is not on the public internet. */
  readonly privateHosts: readonly string[];
  readonly subscriptions: readonly NotifySubscription[];
  /** Absent where there are none. */
  readonly slack?: readonly SlackChannel[];
  /** Absent where there is none. */
  readonly mail?: readonly MailReceiver[];
}

/** All that are sent what happens, each with a consumer group of its own. */
export type NotifyReceiver =
  | (NotifySubscription & { readonly kind: 'webhook' })
  | (SlackChannel & { readonly kind: 'slack' })
  | (MailReceiver & { readonly kind: 'mail' });

/** The variables with a receiver’s secrets, by the keys that name them, without those that the gateway alone reads. */
export function secretVariables(receiver: NotifyReceiver): Readonly<Record<string, string>> {
  switch (receiver.kind) {
    case 'webhook': {
      const { secretEnv, previousSecretEnv, secrets } = receiver;
      if (secrets !== undefined) return {};
      return {
        secret_env: secretEnv,
        ...(previousSecretEnv === undefined ? {} : { previous_secret_env: previousSecretEnv }),
      };
    }
    case 'slack':
      return { token_env: receiver.tokenEnv };
    case 'mail':
      return { server_env: receiver.serverEnv, link_secret_env: receiver.linkSecretEnv };
  }
}

export function receiversOf(notify: NotifySettings | undefined): readonly NotifyReceiver[] {
  if (notify === undefined) return [];
  return [
    ...notify.subscriptions.map((one) => ({ kind: 'webhook' as const, ...one })),
    ...(notify.slack ?? []).map((one) => ({ kind: 'slack' as const, ...one })),
    ...(notify.mail ?? []).map((one) => ({ kind: 'mail' as const, ...one })),
  ];
}
