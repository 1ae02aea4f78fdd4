import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { Bus, Incoming, Outgoing } from '@sluice/bus';
import { make } from '@sluice/contracts';
import type { AgentRequest, Topic } from '@sluice/contracts';

/** All that an implementation gives to be held to the contract. */
export interface BusHarness {
  /** A bus on a log of its own. */
  open(): Promise<TestLog>;
  /** How many histories of work and commands are tried, at most. Default 25. */
  readonly histories?: number;
  /** No further ones are begun after so long, milliseconds. Default 40,000. */
  readonly historiesMs?: number;
}

export interface TestLog {
  /** The bus in use. */
  readonly bus: Bus;
  /**
   * A new bus on the same log, as after the crash of a process that left its consumers behind: nothing is stopped or
   * closed, the old bus and its handlers live on as zombies, and the new bus may subscribe the same groups at once.
   */
  reopen(): Promise<Bus>;
  /** Puts bytes on the log as they are. */
  appendRaw(topic: Topic, key: string, value: Uint8Array, headers: Readonly<Record<string, string>>): Promise<void>;
  /** Ends all buses, zombies included. */
  close(): Promise<void>;
}

/** For each test: long enough for a broker that starts its first transaction. */
export const testMs = 240_000;
const patienceMs = 60_000;

export async function onLog(harness: BusHarness, work: (log: TestLog) => Promise<void>): Promise<void> {
  const log = await harness.open();
  try {
    await work(log);
  } finally {
    await log.close();
  }
}

/** Waits until the condition holds; says which one did not. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`This never came: ${what}.`);
    await delay(10);
  }
}

/** Time in which what must not happen would have happened. */
export const grace = (): Promise<void> => delay(300);

type RequestToSend = Extract<Outgoing, { readonly topic: 'agent.requests' }>;

export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

export async function all<T extends Topic>(bus: Bus, ...topics: readonly T[]): Promise<Incoming<T>[]> {
  const found: Incoming<T>[] = [];
  for await (const message of bus.read(topics, { from: 'start' })) found.push(message);
  return found;
}

export function requestRecord(session: string | null, question: string): AgentRequest {
  return make.agentRequest({ question, sessionId: session });
}

export function request(
  session: string,
  question: string,
  headers: Readonly<Record<string, string>> = {},
): RequestToSend {
  return { topic: 'agent.requests', key: session, record: requestRecord(session, question), headers };
}

/**
 * Publishes requests as a caller does: what may pass is tried again. A broker that has just made a topic may be its
 * leader only in a moment. What had arrived all the same is found by its question, and not published twice.
 */
export async function publishPatiently(bus: Bus, requests: readonly RequestToSend[]): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let left = requests; left.length > 0;) {
    try {
      return await bus.publish(left);
    } catch (error) {
      if (!(error instanceof Fault && error.retryable) || performance.now() > end) throw error;
      await delay(100);
      const there = new Set((await all(bus, 'agent.requests')).map(questionOf));
      left = requests.filter(({ record }) => !there.has(record.question));
    }
  }
}

/** The output the tests’ handlers give for a record: it names what it came from. */
export function entry(message: Incoming, details = questionOf(message)): Outgoing {
  return {
    topic: 'agent.audit',
    key: message.key,
    record: make.auditRecord({
      kind: 'handled',
      sessionId: message.key,
      sourceTopic: message.topic,
      sourcePartition: message.partition,
      sourceOffset: message.offset,
      details,
      previousHash: '',
      hash: '',
      at: 0,
    }),
  };
}

export function questionOf(message: Incoming): string {
  if (message.topic !== 'agent.requests') throw new Error(`Expected a request, not a record of ${message.topic}.`);
  return message.record.question;
}

/** What the entries on the log tell, in their order; of one session if it is named. */
export async function entries(bus: Bus, session?: string): Promise<readonly string[]> {
  const found = await all(bus, 'agent.audit');
  return found
    .filter(({ record }) => session === undefined || record.sessionId === session)
    .map(({ record }) => record.details);
}

export function numbers(count: number, prefix = ''): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
