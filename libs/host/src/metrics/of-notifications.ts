import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** Webhooks, Slack and mail; subscriptions are the receivers of the configuration and those made over HTTP. */
export function notificationMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    notifications: counter(
      'sluice_notifications_total',
      'Notifications that receivers took, by subscription, its kind (webhook, slack or mail) and event.',
      'subscription',
      'kind',
      'event',
    ),
    notificationFailures: counter(
      'sluice_notification_failures_total',
      'Attempts at a notification that its receiver did not take, by kind (webhook, slack or mail) and reason: refused, failed, gone, redirect, timeout, unreachable, not_public, secret or limited.',
      'subscription',
      'kind',
      'reason',
    ),
    notificationDelay: histogram(
      'sluice_notification_delay_seconds',
      'Time from an event until its receiver took it.',
      seconds,
      'subscription',
      'kind',
    ),
    notificationAge: gauge(
      'sluice_notification_oldest_seconds',
      'Age of the oldest event that a subscription’s receiver is being sent; 0 if there is none.',
      'subscription',
    ),
    slackInteractions: counter(
      'sluice_slack_interactions_total',
      'Requests that came as interactions of Slack, by result: dialog (opened), decided, unknown_user, not_counted (the decision), unsigned, ignored or failed.',
      'result',
    ),
  };
}
