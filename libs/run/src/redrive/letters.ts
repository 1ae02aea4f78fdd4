import { Fault } from '@sluice/core';
import { isTopic, topics } from '@sluice/contracts';
import type { DeadLetter, RecordOf, Topic } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { skipUndecodable, recordAt } from '@sluice/bus';

/** A dead letter as it lies on the log. */
export interface Letter {
  /** `partition/offset` on agent.dead-letters. */
  readonly id: string;
  readonly dead: DeadLetter;
  /** The session that it concerns, as far as that is known. */
  readonly session: string;
  readonly content: Content;
}

/** What the bytes of a dead letter say now, or why they say nothing. */
export type Content =
  | { [T in Topic]: { readonly topic: T; readonly record: RecordOf<T> } }[Topic]
  | { readonly topic: null; readonly reason: string };

/** Which letters are meant; what is not given is of no account. */
export interface LetterFilter {
  readonly topic?: Topic;
  readonly code?: string;
  readonly session?: string;
  /** Dead-lettered at this time or later, milliseconds since the epoch. */
  readonly since?: number;
}

/** The dead letters that are meant, the oldest first. */
export async function* readLetters(bus: Bus, filter: LetterFilter): AsyncGenerator<Letter, void, undefined> {
  const from = filter.since === undefined ? 'start' : { time: filter.since };
  const options = { from, onUndecodable: () => undefined } as const;
  for await (const { record: dead, partition, offset } of bus.read([topics.deadLetters], options)) {
    if (filter.topic !== undefined && dead.topic !== filter.topic) continue;
    if (filter.code !== undefined && dead.code !== filter.code) continue;
    const content = await contentOf(dead, bus);
    const session = sessionOf(content) || dead.key;
    if (filter.session !== undefined && filter.session !== session && filter.session !== dead.key) continue;
    yield { id: `${partition}/${offset}`, dead, session, content };
  }
}

/** Where the dead letter of this id stands. Throws a sentence for what is no id. */
export function letterPosition(id: string): { readonly partition: number; readonly offset: number } {
  const [, partition, offset] = (/^(\d+)\/(\d+)$/.exec(id) ?? []).map(Number);
  if (partition === undefined || offset === undefined)
    throw new Error(`"${id}" names no dead letter: an id is partition/offset, as "sluice dead-letters list" shows it.`);
  return { partition, offset };
}

/** The dead letter of this id; undefined if there is none, or it is gone. */
export async function letterAt(id: string, bus: Bus): Promise<Letter | undefined> {
  const message = await recordAt(bus, topics.deadLetters, letterPosition(id), skipUndecodable);
  if (message === undefined) return undefined;
  const content = await contentOf(message.record, bus);
  return { id, dead: message.record, session: sessionOf(content) || message.record.key, content };
}

async function contentOf({ topic, value }: DeadLetter, bus: Bus): Promise<Content> {
  if (!isTopic(topic)) return { topic: null, reason: `This version knows no topic ${topic}.` };
  try {
    return { topic, record: await bus.decode(topic, value) } as Content;
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return { topic: null, reason: error.message };
    throw error;
  }
}

function sessionOf({ topic, ...content }: Content): string {
  if (topic === null || !('record' in content)) return '';
  if (topic === 'agent.approvals') {
    const { requested, decided, outcome } = content.record as RecordOf<'agent.approvals'>;
    return (requested ?? decided ?? outcome)?.sessionId ?? '';
  }
  return 'sessionId' in content.record ? (content.record.sessionId ?? '') : '';
}
