/** What subscriptions can be notified of. */
export const notificationEvents = [
  'run.ended',
  'run.failed',
  'approval.waiting',
  'approval.escalated',
  'approval.ended',
  'dead_letter',
] as const;

export type NotificationEvent = (typeof notificationEvents)[number];

/** What a notification leaves out unless its subscription includes it. */
export const includedTexts = ['question', 'answer'] as const;

export type IncludedText = (typeof includedTexts)[number];

/** One receiver of webhooks. The secrets themselves are nowhere in a configuration. */
export interface NotifySubscription {
  readonly id: string;
  readonly url: string;
  readonly events: readonly NotificationEvent[];
  /** Whose events it gets; absent for all, those of no tenant too. */
  readonly tenants?: readonly string[];
  /** Outcomes, error codes and decisions of the events that it gets; absent for all. */
  readonly outcomes?: readonly string[];
  /** The variable with the secret that signs. */
  readonly secretEnv: string;
  /** The variable with the former secret, which signs too while receivers change over; absent where none does. */
  readonly previousSecretEnv?: string;
  readonly include: readonly IncludedText[];
  /** How long a delivery is tried again, milliseconds. */
  readonly retryMs: number;
}

export interface NotifySettings {
  /** Where the console is served, for links; absent for none. */
  readonly baseUrl?: string;
  /** Host, or host:port, that may be reached though it is not on the public internet. */
  readonly privateHosts: readonly string[];
  readonly subscriptions: readonly NotifySubscription[];
}
