import type { NewSubscription, Subscription, SubscriptionChange } from '@sluice/client';

type NotifiedEvent = NewSubscription['events'][number];
type IncludedText = NonNullable<NewSubscription['include']>[number];

/** What stands in the form of a subscription: lists as texts with commas, empty for all. */
export interface Draft {
  readonly name: string;
  readonly url: string;
  readonly events: readonly NotifiedEvent[];
  readonly tenants: string;
  readonly agents: string;
  readonly outcomes: string;
  readonly include: readonly IncludedText[];
  readonly retrySeconds: string;
}

// By name, so that the compiler finds one that is missing.
const events: Readonly<Record<NotifiedEvent, true>> = {
  'run.ended': true,
  'run.failed': true,
  'approval.waiting': true,
  'approval.counted': true,
  'approval.escalated': true,
  'approval.ended': true,
  dead_letter: true,
  'budget.reached': true,
  'configuration.refused': true,
  'server.held_back': true,
};
const texts: Readonly<Record<IncludedText, true>> = { question: true, answer: true };

export const eventNames = Object.keys(events) as readonly NotifiedEvent[];
export const textNames = Object.keys(texts) as readonly IncludedText[];

const day = 86_400;
const week = 7 * day;

export const emptyDraft: Draft = {
  ...{ name: '', url: '', events: [], tenants: '', agents: '', outcomes: '' },
  ...{ include: [], retrySeconds: String(day) },
};

export function draftOf(subscription: Subscription): Draft {
  const { name, url, tenants, agents, outcomes, include, retry_seconds: seconds } = subscription;
  return {
    ...{ name, url: url ?? '' },
    events: eventNames.filter((event) => subscription.events.includes(event)),
    ...{ tenants: textOf(tenants), agents: textOf(agents), outcomes: textOf(outcomes) },
    include: textNames.filter((text) => include.includes(text)),
    retrySeconds: String(seconds),
  };
}

/** Whether the gateway can be asked; what else is wrong it says itself. */
export function isWhole({ name, url, events: chosen, retrySeconds }: Draft): boolean {
  const seconds = Number(retrySeconds);
  const isTime = /^\d{1,6}$/.test(retrySeconds) && seconds >= 1 && seconds <= week;
  return name.trim() !== '' && url.trim() !== '' && chosen.length > 0 && isTime;
}

export function newOf({ name, url, events: chosen, include, retrySeconds, ...lists }: Draft): NewSubscription {
  return {
    ...{ name: name.trim(), url: url.trim(), events: chosen, include, retry_seconds: Number(retrySeconds) },
    ...{ tenants: listOf(lists.tenants), agents: listOf(lists.agents), outcomes: listOf(lists.outcomes) },
  };
}

export function changeOf(draft: Draft): SubscriptionChange {
  const { name: _, tenants, agents, outcomes, ...change } = newOf(draft);
  // What is null stays as it is; all are written as `*`.
  return { ...change, tenants: tenants ?? ['*'], agents: agents ?? ['*'], outcomes: outcomes ?? ['*'] };
}

function textOf(names: readonly string[] | null): string {
  return names?.join(', ') ?? '';
}

/** Null for all. */
function listOf(text: string): readonly string[] | null {
  const names = text.split(',').map((name) => name.trim());
  const given = [...new Set(names.filter((name) => name !== ''))];
  return given.length === 0 ? null : given;
}
