import { receiversOf } from '@sluice/core';
import type { Configuration, IncludedText, JsonObject, NotifyFilter, NotifySettings } from '@sluice/core';
import { recordContent, sha256 } from '@sluice/contracts';
import type { Notification } from '@sluice/contracts';
import type { Happened } from './events.js';

/** A text that a subscription includes is cut behind so many characters. */
export const mostTextCharacters = 16_000;

/** Each receiver of the configuration, whatever it is sent: one that changes goes on. */
export function receiverEntries({ notify }: Configuration): ReadonlyMap<string, string> {
  return new Map(receiversOf(notify).map(({ id }) => [id, '']));
}

/** Whether a subscription is to be sent it. */
export function isWanted(
  { event, outcome, tenantId, agent }: Pick<Happened, 'event' | 'outcome' | 'tenantId' | 'agent'>,
  { events, tenants, agents, outcomes }: Pick<NotifyFilter, 'events' | 'tenants' | 'agents' | 'outcomes'>,
): boolean {
  if (!events.includes(event)) return false;
  if (tenants !== undefined && (tenantId === null || !tenants.includes(tenantId))) return false;
  if (agents !== undefined && (agent === null || !agents.includes(agent))) return false;
  return outcomes === undefined || outcome === '' || outcomes.includes(outcome);
}

/** What the subscription is to be sent. */
export function notificationOf(
  happened: Happened,
  { id, include = [] }: { readonly id: string; readonly include?: readonly IncludedText[] },
  { baseUrl }: Pick<NotifySettings, 'baseUrl'>,
): Notification {
  const { event, subject, requestId, sessionId, tenantId, outcome, at, stage } = happened;
  const link = baseUrl === undefined ? {} : { link: `${baseUrl}${happened.page}` };
  const data = { ...happened.data, ...link, ...included(happened.texts, include) };
  return {
    ...{ notificationId: happened.id, subscription: id, event, requestId, sessionId, tenantId, subject, outcome },
    ...{ at, stage, data: JSON.stringify(data) },
  };
}

/** Events of a run keep their order at each receiver, and wait for no other run’s. */
export function notificationKey({ subscription, requestId, subject }: Notification): string {
  return `${subscription}/${requestId || subject}`;
}

/** What the ledger keeps of a notification: one that is only on the log is forged. */
export function vouchKey(notification: Notification): string {
  return `notification/${sha256(recordContent('Notification', notification, []))}`;
}

function included(texts: Happened['texts'], include: readonly IncludedText[]): JsonObject {
  const found = include.flatMap((name): [string, string | boolean][] => {
    const text = texts[name];
    if (text === undefined) return [];
    if (text.length <= mostTextCharacters) return [[name, text]];
    return [
      [name, text.slice(0, mostTextCharacters).toWellFormed()],
      [`${name}_is_cut`, true],
    ];
  });
  return Object.fromEntries(found);
}
