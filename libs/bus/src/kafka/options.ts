import type { ConnectionOptions } from 'node:tls';
import type { Topic } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { BusLog } from '../port.js';

/** Certificates and keys are PEM texts. Without `ca` the system's authorities are trusted. */
type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'>;

/**
 * Who this process is to the broker. `oauthbearer` fetches its tokens with the client credentials grant, again before
 * each expires.
 */
export type SaslOptions =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'oauthbearer';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
    };

/** A registry with Confluent's API. */
export interface RegistryOptions {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  /** What a subject gets with its first schema. */
  readonly compatibility: 'FULL_TRANSITIVE';
}

/** How absent topics are created; those that are there stay as they are. */
export interface TopicOptions {
  /** Of every topic but agent.config, which has one. */
  readonly partitions: number;
  readonly replication: number;
  /** Milliseconds, -1 for ever; what is not named has the value of `defaultRetentionMs`. */
  readonly retentionMs?: Partial<Readonly<Record<Topic, number>>>;
  /**
   * Of the whole topic; null and what is not named has no limit. A broker counts by partition, so each gets its
   * share.
   */
  readonly retentionBytes?: Partial<Readonly<Record<Topic, number | null>>>;
  /** Of one record batch; dead letters may be twice as large. Default, and least: 1,048,588. */
  readonly maxMessageBytes?: number;
}

export interface KafkaBusOptions {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Before every topic, group, subject and transactional id; '' for none. */
  readonly prefix: string;
  readonly tls?: TlsOptions;
  readonly sasl?: SaslOptions;
  readonly registry: RegistryOptions;
  readonly topics: TopicOptions;
  /** After so long without a heartbeat the group takes a consumer for dead, milliseconds. Default 6,000. */
  readonly sessionTimeoutMs?: number;
  /**
   * After so long an open transaction is aborted, milliseconds; less than the session timeout. Default: eight tenths
   * of it.
   */
  readonly transactionTimeoutMs?: number;
  /** Names this process; no two that run at the same time may have the same. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log?: BusLog;
  /** Stops waiting for an absent broker or registry. */
  readonly signal?: AbortSignal;
}

export interface Timeouts {
  readonly sessionMs: number;
  readonly transactionMs: number;
}

/** Throws RangeError, saying what to change. */
export function timeoutsOf({ sessionTimeoutMs = 6_000, transactionTimeoutMs }: KafkaBusOptions): Timeouts {
  const transactionMs = transactionTimeoutMs ?? Math.floor(sessionTimeoutMs * 0.8);
  if (!(sessionTimeoutMs >= 1_000)) {
    throw new RangeError(
      `The session timeout is ${sessionTimeoutMs} ms. Make it 1,000 or more; 6,000 to 10,000 is usual.`,
    );
  }
  if (!(transactionMs > 0 && transactionMs < sessionTimeoutMs)) {
    throw new RangeError(
      `The transaction timeout is ${transactionMs} ms and the session timeout ${sessionTimeoutMs} ms. Make the first one smaller, ` +
        'else a dead process keeps the readers of its outputs waiting after its successor is there.',
    );
  }
  return { sessionMs: sessionTimeoutMs, transactionMs };
}
