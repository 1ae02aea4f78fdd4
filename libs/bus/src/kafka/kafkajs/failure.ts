import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';

/** What kafkajs’s errors have in common. */
interface KafkaError extends Error {
  /** The protocol’s name of the error. */
  readonly type?: string;
  /** A system error’s name, or the protocol’s number. */
  readonly code?: unknown;
  readonly retriable?: boolean;
  /** Of the broker, where a connection failed. */
  readonly host?: string;
  readonly port?: number;
}

/** The error, what caused it, what caused that, and so on. */
export function causes(error: unknown): readonly KafkaError[] {
  const chain: KafkaError[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) chain.push(cause);
  return chain;
}

/** A transaction is still being ended: normal, and over within milliseconds. */
export function isConcurrentTransactions(error: unknown): boolean {
  return causes(error).some(({ type }) => type === 'CONCURRENT_TRANSACTIONS' || type === 'UNSTABLE_OFFSET_COMMIT');
}

/** Another owner has begun since: what this producer holds is void. */
export function isFenced(error: unknown): boolean {
  return causes(error).some(({ type }) => type !== undefined && fencedTypes.has(type));
}

const fencedTypes: ReadonlySet<string> = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'TRANSACTIONAL_ID_NOT_FOUND',
]);

/** The broker wants the transaction aborted, and takes it once more. */
export function isAbortable(error: unknown): boolean {
  return causes(error).some(({ type }) => type === 'TRANSACTION_ABORTABLE');
}

/** The group has rebalanced or is rebalancing: the coordinator refuses commits of the member’s former generation. */
export function isStaleGeneration(error: unknown): boolean {
  return causes(error).some(({ type }) => type !== undefined && staleTypes.has(type));
}

const staleTypes: ReadonlySet<string> = new Set(['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS']);

/** A lost connection, a broker that starts or moves a leader: the same request may be sent again. */
export function isRetriable(error: unknown): boolean {
  if (isFenced(error)) return false;
  const chain = causes(error);
  // An answer that is not what it should be, which it would be again.
  if (chain.some(({ name }) => name === 'RangeError')) return false;
  if (chain.some(({ name }) => name === 'KafkaJSGroupCoordinatorNotFound')) return true;
  // kafkajs’s error without a name: the broker took the connection and has not said yet which requests it knows.
  if (chain.at(-1)?.message === 'Broker not connected') return true;
  return chain.at(-1)?.retriable === true || chain.some(({ code }) => typeof code === 'string' && code.startsWith('E'));
}

/** Fault('storage') with a sentence that names the address and says what to change. */
export function brokerFault(doing: string, brokers: readonly string[], error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { reason, retryable } = explain([...causes(error), ...topicErrors(error)]);
  return new Fault('storage', `${doing}: Kafka at ${brokers.join(', ')} ${reason}`, retryable, { cause: error });
}

/** What kafkajs says of each of several topics, of which its error itself says nothing. */
function topicErrors(error: unknown): readonly KafkaError[] {
  return causes(error).flatMap((cause) => ('errors' in cause ? (cause.errors as readonly KafkaError[]) : []));
}

function explain(chain: readonly KafkaError[]): { readonly reason: string; readonly retryable: boolean } {
  const token = chain.find((error) => error instanceof Fault);
  if (token !== undefined) return { reason: `cannot be logged in to. ${token.message}`, retryable: token.retryable };
  if (chain.some(({ type, code }) => type === 'ILLEGAL_SASL_STATE' || code === 34)) {
    return {
      reason: 'takes no login at this port. Leave sasl out (KAFKA_SASL_MECHANISM), or name the port where it does.',
      retryable: false,
    };
  }
  if (chain.some(({ name }) => name.startsWith('KafkaJSSASLAuthentication'))) {
    return {
      reason: 'refuses the credentials. Check the SASL mechanism, the user and the password.',
      retryable: false,
    };
  }
  const codes = new Set(chain.map(({ code }) => code));
  const text = chain.map(({ message }) => message).join(' ');
  if (codes.has('ECONNREFUSED'))
    return { reason: 'refuses connections. Start it, or correct the address.', retryable: true };
  if (codes.has('ENOTFOUND') || codes.has('EAI_AGAIN')) {
    const [, host] = /(?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)/.exec(text) ?? [];
    // In a container a broker’s name goes with it.
    const which = host === undefined ? 'an unknown host name' : `the unknown host name ${host}`;
    return { reason: `has ${which}. Start that broker, or correct the address.`, retryable: true };
  }
  if (/before secure TLS|wrong version number/.test(text)) {
    return { reason: 'does not speak TLS. Leave tls out, or name the port where it does.', retryable: true };
  }
  if (/certificate|SSL|TLS/i.test(text)) {
    return {
      reason: `cannot be trusted (${chain[0]?.message ?? text}). Check the certificates and tls.ca.`,
      retryable: true,
    };
  }
  if (/^Closed connection/.test(text)) {
    return { reason: 'closes the connection. It is stopping, or it wants tls or sasl to be set.', retryable: true };
  }
  if (chain.some(({ type }) => type?.endsWith('AUTHORIZATION_FAILED'))) {
    return {
      reason: `does not allow this user to do it (${chain[0]?.message ?? text}). Grant the permission.`,
      retryable: false,
    };
  }
  // kafkajs takes an answer apart in which a topic is missing, as while its partitions have no leader.
  if (chain.some(({ name, message }) => name === 'TypeError' || /^Cannot (?:destructure|read) propert/.test(message))) {
    return {
      reason: 'does not say where its topics’ partitions stand. It may be starting, or their leaders are away.',
      retryable: true,
    };
  }
  return { reason: `says “${chain[0]?.message ?? text}”.`, retryable: true };
}

/** Rejects with `late` if the work takes longer, milliseconds; the work itself goes on and is forgotten. */
export async function within<T>(ms: number, late: () => Error, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      work,
      delay(ms, undefined, { signal: timer.signal }).then(() => {
        throw late();
      }),
    ]);
  } finally {
    timer.abort();
  }
}
