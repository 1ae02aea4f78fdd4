/** How far a client has heard the answer to one request. */
export interface HeardAnswer {
  /** Events so far. */
  readonly position: number;
  /** The last progress, which only grows; 0 where there was none. */
  readonly progress: number;
  /** Questions to the client. */
  readonly questions: number;
}

/** Where in which stream of a session an event stood, as its id says. */
export type EventPosition =
  /** Of the answer to one request, which `stream` names within the session. */
  | { readonly kind: 'answer'; readonly stream: string; readonly heard: HeardAnswer }
  /** Of the stream beside requests: the last message of the session’s outbox, and the configuration in force. */
  | { readonly kind: 'standing'; readonly position: number; readonly configuration: string };

const answer = /^a-([0-9a-f]{32})-(\d{1,9})-(\d{1,9})-(\d{1,15}(?:\.\d{1,6})?)$/;
const standing = /^s-(\d{1,9})-([0-9a-f]{1,64})-[0-9a-f]{1,32}$/;
const largestProgress = 1e15;

export const nothingHeard: HeardAnswer = { position: 0, progress: 0, questions: 0 };

export function answerEventId(stream: string, { position, progress, questions }: HeardAnswer): string {
  const isWritten = progress > 0 && progress < largestProgress;
  return `a-${stream}-${position}-${questions}-${isWritten ? Number(progress.toFixed(6)) : 0}`;
}

/** `once` makes the id another one at each event, for events that move neither message nor configuration. */
export function standingEventId(position: number, configuration: string, once: string): string {
  return `s-${position}-${configuration}-${once}`;
}

/** What a client’s `Last-Event-ID` says; null for what no stream here wrote. */
export function parseEventId(id: string): EventPosition | null {
  const [, stream = '', at = '', questions = '', progress = ''] = answer.exec(id) ?? [];
  if (stream !== '') {
    const heard = { position: Number(at), progress: Number(progress), questions: Number(questions) };
    return { kind: 'answer', stream, heard };
  }
  const [, position = '', configuration = ''] = standing.exec(id) ?? [];
  return position === '' ? null : { kind: 'standing', position: Number(position), configuration };
}
