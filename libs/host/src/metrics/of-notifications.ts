import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** Webhooks; subscriptions are those of the configuration. */
export function notificationMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    notifications: counter(
      'sluice_notifications_total',
      'Webhooks that receivers took, by subscription and event.',
      'subscription',
      'event',
    ),
    notificationFailures: counter(
      'sluice_notification_failures_total',
      'Attempts at a webhook that its receiver did not take, by reason: refused, failed, gone, redirect, timeout, unreachable, not_public or secret.',
      'subscription',
      'reason',
    ),
    notificationDelay: histogram(
      'sluice_notification_delay_seconds',
      'Time from an event until its receiver took it.',
      seconds,
      'subscription',
    ),
    notificationAge: gauge(
      'sluice_notification_oldest_seconds',
      'Age of the oldest event that a subscription’s receiver is being sent; 0 if there is none.',
      'subscription',
    ),
  };
}
