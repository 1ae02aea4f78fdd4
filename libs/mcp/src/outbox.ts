import type { WatchedResource } from '@sluice/contracts';
import type { JsonObject } from '@sluice/core';

/** Messages that an outbox keeps, their bytes together, and for how long, in milliseconds. */
const mostMessages = 32;
const mostBytes = 65_536;
const keptMs = 3_600_000;
/** Resources that a session may be subscribed to. */
export const mostSubscriptions = 50;

interface Posted {
  /** Counts the messages of the session, from 1. */
  readonly at: number;
  readonly since: number;
  readonly message: JsonObject;
}

interface Subscription extends WatchedResource {
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * What a session has to say to its client beside answers to requests, in order, and which connection says it: one of
 * all replicas, so that the client hears each message once.
 */
export interface Outbox {
  /** How many messages there were so far. */
  readonly last: number;
  /** The connection that sends the messages; null where none does. */
  readonly holder: string | null;
  readonly messages: readonly Posted[];
  /** The resources whose changes its client wants to hear of; absent for none. */
  readonly subscriptions?: readonly Subscription[];
}

export const emptyOutbox: Outbox = { last: 0, holder: null, messages: [] };

/** The outbox with one more message; the oldest go where there are too many, or where they are too large or too old. */
export function posted(outbox: Outbox, message: JsonObject, now: number): Outbox {
  const last = outbox.last + 1;
  const all = [...outbox.messages.filter(({ since }) => since > now - keptMs), { at: last, since: now, message }];
  let bytes = 0;
  const newest = all.reverse().filter((one, index) => {
    bytes += Buffer.byteLength(JSON.stringify(one.message));
    return index < mostMessages && bytes <= mostBytes;
  });
  return { ...outbox, last, messages: newest.reverse() };
}

/** What a client that has heard the messages up to `heard` has not heard. `isWhole` says that none of it is gone. */
export function unheard(
  outbox: Outbox,
  heard: number,
): { readonly messages: readonly Posted[]; readonly isWhole: boolean } {
  const messages = outbox.messages.filter(({ at }) => at > heard);
  return { messages, isWhole: messages.length === Math.max(0, outbox.last - heard) };
}

/** The outbox with a subscription to the resource; null where it has as many as it may have. */
export function subscribed(outbox: Outbox, { server, uri }: WatchedResource, now: number): Outbox | null {
  const others = (outbox.subscriptions ?? []).filter((one) => one.uri !== uri);
  if (others.length >= mostSubscriptions) return null;
  return { ...outbox, subscriptions: [...others, { server, uri, since: now }] };
}

export function unsubscribed(outbox: Outbox, uri: string): Outbox {
  return { ...outbox, subscriptions: (outbox.subscriptions ?? []).filter((one) => one.uri !== uri) };
}
