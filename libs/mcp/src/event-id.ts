/** Where in which stream of a session an event stood, as its id says. */
export type EventPosition =
  /** Of the answer to one request: `stream` names it within the session, `position` counts its events from 0. */
  | { readonly kind: 'answer'; readonly stream: string; readonly position: number }
  /** Of the stream beside requests: the last message of the session’s outbox, and the configuration in force. */
  | { readonly kind: 'standing'; readonly position: number; readonly configuration: string };

const answer = /^a-([0-9a-f]{32})-(\d{1,9})$/;
const standing = /^s-(\d{1,9})-([0-9a-f]{1,64})-[0-9a-f]{1,32}$/;

export function answerEventId(stream: string, position: number): string {
  return `a-${stream}-${position}`;
}

/** `once` makes the id another one at each event, for events that move neither message nor configuration. */
export function standingEventId(position: number, configuration: string, once: string): string {
  return `s-${position}-${configuration}-${once}`;
}

/** What a client’s `Last-Event-ID` says; null for what no stream here wrote. */
export function parseEventId(id: string): EventPosition | null {
  const [, stream = '', at = ''] = answer.exec(id) ?? [];
  if (stream !== '') return { kind: 'answer', stream, position: Number(at) };
  const [, position = '', configuration = ''] = standing.exec(id) ?? [];
  return position === '' ? null : { kind: 'standing', position: Number(position), configuration };
}
