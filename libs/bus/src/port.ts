import type { Fault } from '@sluice/core';
import type { RecordOf, Topic } from '@sluice/contracts';

/** A record to be published. `key` is the session id: records of one key keep their order. */
export type Outgoing = {
  [T in Topic]: {
    readonly topic: T;
    readonly key: string;
    readonly record: RecordOf<T>;
    readonly headers?: Readonly<Record<string, string>>;
  };
}[Topic];

/** A record read from the log. `topic`, `partition` and `offset` name it for ever. */
export type Incoming<T extends Topic = Topic> = {
  [K in T]: {
    readonly topic: K;
    readonly partition: number;
    readonly offset: number;
    readonly key: string;
    readonly record: RecordOf<K>;
    readonly headers: Readonly<Record<string, string>>;
    /** When the log took it, milliseconds since the epoch. What decides about rights asks `trustedTimeOf`. */
    readonly timestamp: number;
    /** When it was read here, where the topic leaves the timestamp to producers and it proves nothing. */
    readonly readAt?: number | undefined;
    /**
     * The Avro that the record was read from, if it is of today’s schema and the reader has it at hand: for callers
     * that compare bytes.
     */
    readonly avro?: Buffer | null;
    /** The schema that it was written with, as JSON, if that is another than today’s and the reader has it at hand. */
    readonly writer?: string | null;
  };
}[T];

export interface HandlerContext {
  /** Aborted when the consumer gives the record up: shut-down after the drain time, or the partition moved. */
  readonly signal: AbortSignal;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Publishes at once, best effort, outside the transaction: progress that may be lost or seen twice. */
  emit(messages: readonly Outgoing[]): void;
  /**
   * Runs once the outputs and the acknowledgement are on the log: for metrics and log lines that must count once.
   * Under load many wait for that: what the action refers to stays in memory, so it should not be the message. It is
   * synchronous.
   */
  afterCommit(action: () => void): void;
  /**
   * The record’s credential is needed no longer. A log that can change a record blanks it together with the outputs
   * and the acknowledgement, and keeps `sender` in its place; Kafka cannot.
   */
  credentialUsed(sender: string | null): void;
  /**
   * Called before the wait for another attempt at this record, where this one ends with a fault that may pass: so
   * that the handler can report it.
   */
  onRetry(listener: (retry: Retry) => void): void;
  /**
   * Waits for what is elsewhere, such as a model or a tool: meanwhile another record is at work in this one’s place.
   * A wait that is not said so keeps the place for a moment. Absent in contexts that limit no work.
   */
  aside?<T>(wait: () => Promise<T>): Promise<T>;
  /**
   * With `order: 'partition'`: what the record before this one in its partition left, '' if none did; always '' with
   * sessions.
   */
  readonly carried: string;
  /**
   * With `order: 'partition'`: leaves a text for the next record of the partition, whichever consumer handles it. It
   * is committed with the outputs and the acknowledgement of this one. Throws RangeError beyond `maxCarriedBytes`,
   * and where sessions are the order.
   */
  carry(text: string): void;
}

/** That a record is handled again in a while, and why. */
export interface Retry {
  readonly fault: Fault;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** Milliseconds until the next one. */
  readonly waitMs: number;
}

/**
 * The longest text that a partition carries, bytes in UTF-8: on Kafka it shares the metadata of the committed offset.
 */
export const maxCarriedBytes = 1_024;

/** A function from a message to messages: the bus makes the outputs and the acknowledgement one atomic act. */
export type Handler = (message: Incoming, context: HandlerContext) => Promise<readonly Outgoing[]>;

/** A dead-lettered record: what it was, and why. `message` is null if it could not be decoded. */
export interface Dead {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: number;
  readonly readAt?: number | undefined;
  readonly message: Incoming | null;
  readonly code: string;
  readonly reason: string;
  /** The code of the fault that the retries ended with; null if it was not retried until the limit. */
  readonly lastFault: string | null;
  readonly attempts: number;
}

export interface RetryPolicy {
  /** First wait; doubled each time up to `maxMs`. */
  readonly initialMs: number;
  readonly maxMs: number;
  /**
   * Attempts in all, but for a fault that says itself until when; after the last one the record is dead
   * (`retries_exhausted`).
   */
  readonly attempts: number;
}

/** What a consumer tells of its work while it does it, to be counted: it must not throw, and must not take long. */
export interface ConsumerObserver {
  /** A transaction ended, on the log or not, so many milliseconds after it began. */
  transaction(committed: boolean, milliseconds: number): void;
  /** The group has rebalanced: its partitions are assigned among its present members. */
  rebalanced(): void;
}

/**
 * How much of a partition a group has not finished yet, in records; on Kafka the markers of transactions count as
 * records.
 */
export interface PartitionLag {
  readonly topic: Topic;
  readonly partition: number;
  readonly records: number;
}

export interface Subscription {
  /** Consumers of one group share the records; groups do not know of each other. */
  readonly group: string;
  readonly topics: readonly Topic[];
  readonly handle: Handler;
  /**
   * `session` (the default): records of one session one after another, sessions side by side. `partition`: all
   * records of a partition of a topic one after another, in the order of the log, with a text that is carried from
   * each to the next.
   */
  readonly order?: 'session' | 'partition';
  /**
   * With `order: 'partition'`: this consumer has a partition from now on, and this is what it carries; also after
   * losing it for a moment.
   */
  readonly taken?: (place: { readonly topic: Topic; readonly partition: number }, carried: string) => void;
  /**
   * False for a consumer that only watches: a record that fails makes no dead letter, and `onDead` alone says what
   * goes out.
   */
  readonly deadLetters?: boolean;
  /** What else goes out when a record becomes a dead letter, in the same transaction as the dead letter itself. */
  readonly onDead?: (dead: Dead, context: HandlerContext) => readonly Outgoing[] | Promise<readonly Outgoing[]>;
  /**
   * Called when a record that failed for good is committed, however `onDead` ended: for metrics and log lines that
   * must count once.
   */
  readonly afterDead?: (dead: Dead) => void;
  /** Records taken from the log and not yet finished, at most; beyond it reading pauses. Default 1,000. */
  readonly maxInFlight?: number;
  readonly retry?: RetryPolicy;
  readonly observer?: ConsumerObserver;
}

/** How a consumer stands in its group. */
export interface Standing {
  /** Partitions that it works on now; none is right where the group has more members than partitions. */
  readonly partitions: number;
  /** Since the group last counted on it, milliseconds. */
  readonly heartbeatAgeMs: number;
  /** Why it cannot work now, though it goes on trying. */
  readonly trouble: string | undefined;
}

export interface Consumer {
  /**
   * Stops reading, lets running handlers end for up to `drainMs`, commits what finished, and gives the rest up: it is
   * repeated later.
   */
  stop(drainMs: number): Promise<void>;
  /** Resolves when the consumer ended without being asked to, with the reason; never while it works. */
  readonly failed: Promise<Error>;
  /** Records taken and not yet finished. */
  readonly inFlight: number;
  /**
   * Of each partition that this consumer holds now: what the log has and the group has not finished. Rejects while
   * the log cannot be asked.
   */
  lag(): Promise<readonly PartitionLag[]>;
  readonly standing: Standing;
}

/** An offset is one of every partition, or of the named one alone. */
export type ReadFrom =
  | { readonly offset: number; readonly partition?: number }
  | { readonly time: number }
  /**
   * Behind the offset that was read last; null: from the partition's beginning, as where the log is another one and
   * ends before it.
   */
  | { readonly after: (topic: Topic, partition: number) => number | null }
  | 'start'
  | 'end';

export interface ReadOptions {
  readonly from: ReadFrom;
  /** Go on waiting for new records until the signal aborts; otherwise end at the log's end as it was at the call. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /**
   * Which records are wanted, by key; asked when each is reached. The others are skipped and never decoded. Default:
   * all.
   */
  readonly ofKey?: (key: string) => boolean;
  /** What the log took at this time or later, milliseconds since the epoch, is skipped and never decoded. */
  readonly before?: number;
  /** Called for a record that cannot be decoded, which is then skipped. Default: throws Fault('undecodable'). */
  readonly onUndecodable?: (position: { topic: Topic; partition: number; offset: number }, reason: string) => void;
}

/** Where a bus says what an operator must know; quiet in normal operation. */
export type BusLog = (
  level: 'info' | 'warn' | 'error',
  message: string,
  details: Readonly<Record<string, unknown>>,
) => void;

/** A log of topics. One contract suite, libs/bus/test/contract.ts, holds every implementation. */
export interface Bus {
  /** Resolves when all of them are durably on the log, all or none. */
  publish(messages: readonly Outgoing[]): Promise<void>;
  /**
   * Resolves once what can be read now is on the disk: for what must not be done before a record of it outlives a loss
   * of power. Kafka gives out nothing that it has not acknowledged.
   */
  durable(): Promise<void>;
  /** At most one consumer per group in this process. */
  subscribe(subscription: Subscription): Promise<Consumer>;
  /** Reads without a group: for replay, for followers, for the command line. */
  read<T extends Topic>(topics: readonly T[], options: ReadOptions): AsyncIterable<Incoming<T>>;
  /**
   * What a payload of the topic says, such as that of a dead letter. Rejects with Fault('undecodable'), or with a
   * retryable one.
   */
  decode<T extends Topic>(topic: T, value: Uint8Array): Promise<RecordOf<T>>;
  /**
   * What a consumer group has not finished, partition by partition, whether or not it has a consumer now. A group
   * that never committed has not finished anything. Rejects while the log cannot be read.
   */
  groupLag(group: string, topics: readonly Topic[]): Promise<readonly PartitionLag[]>;
  /** Rejects with what is wrong if the log cannot be used now. */
  check(): Promise<void>;
  /** What the log stands on, by name; each rejects with what is wrong while it cannot be used. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
  close(): Promise<void>;
}

/** Which log it is: a ledger that belongs to another one knows nothing of what was done here. */
export interface LogIdentity {
  /** The same for as long as the log lasts, and another for each log: of a file its own, on Kafka the cluster's. */
  readonly id: string;
  /** Whether services have worked on it: what only they write was written, though it may be gone again. */
  readonly used: boolean;
}

/** Topics that only services write, after they asked the ledger. */
export const writtenByServices: readonly Topic[] = ['agent.toolsets', 'agent.responses'];

/** Where records can be read without a group: a log, or a file that was exported from one. */
export type LogReader = Pick<Bus, 'read'>;
