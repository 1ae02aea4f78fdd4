import { Kafka, logLevel } from 'kafkajs';
import type { KafkaConfig, RetryOptions, SASLOptions } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { passOverAborted } from './aborted.js';
import { noteGenerations } from './generations.js';
import { restIdleConnections } from './idle-timer.js';
import { askForNoTopics } from './narrow-metadata.js';
import { askAgainIfNoBrokers } from './no-brokers.js';
import { readCompressed } from './compressed.js';
import { fetchToken } from './oauth.js';
import { timeoutsOf } from '../options.js';
import type { KafkaBusOptions, SaslOptions } from '../options.js';
import { quietLog } from './quiet-log.js';
import { once } from './once.js';
import { protocolError } from '../produce/protocol-error.js';

const unknownMember = 25;

/**
 * A kafkajs 2.2.4 consumer that its group has forgotten joins it again, under a new name. If a broker is away just
 * then, it tries again to read, not to join: without a name it sends no heartbeats, so it reads on for ever and never
 * learns that its partitions belong to another member, whose group refuses all that it commits. Here a heartbeat
 * without a name fails as one under an unknown name does, and so it joins again.
 */
const joinAgainIfForgotten = once(() => {
  const { heartbeat } = ConsumerGroup.prototype;
  ConsumerGroup.prototype.heartbeat = async function (this: ConsumerGroup, options) {
    if (!this.memberId) throw protocolError(unknownMember);
    await heartbeat.call(this, options);
  };
});

/** kafkajs’s defaults depend on NODE_ENV, so every client, producer and consumer gets them in writing. */
export const clientRetry = {
  initialRetryTime: 50,
  maxRetryTime: 1_000,
  factor: 0.2,
  multiplier: 2,
  retries: 4,
} as const satisfies RetryOptions;

/** Of consumers, which begin again after what may pass, and of what asks for them. */
export const consumerRetry = { ...clientRetry, retries: 6 } as const satisfies RetryOptions;

/**
 * A kafkajs client of its own for each purpose: clients share the committed offsets they remember, so two consumers of
 * one group must never be on the same one.
 */
export type Clients = () => Kafka;

export function clientsFor(options: KafkaBusOptions): Clients {
  restIdleConnections();
  passOverAborted();
  readCompressed();
  askForNoTopics();
  askAgainIfNoBrokers();
  noteGenerations();
  joinAgainIfForgotten();
  const config = configOf(options);
  return () => new Kafka(config);
}

export function configOf(options: KafkaBusOptions): KafkaConfig {
  const { brokers, clientId, tls, sasl, log = () => undefined } = options;
  return {
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3_000,
    authenticationTimeout: 10_000,
    requestTimeout: timeoutsOf(options).sessionMs,
    enforceRequestTimeout: true,
    retry: clientRetry,
    logLevel: logLevel.WARN,
    logCreator: quietLog(log),
    ...(tls === undefined ? {} : { ssl: tls }),
    ...(sasl === undefined ? {} : { sasl: saslOf(sasl) }),
  };
}

function saslOf(sasl: SaslOptions): SASLOptions {
  switch (sasl.mechanism) {
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512': {
      const { mechanism, username, password } = sasl;
      return { mechanism, username, password };
    }
    case 'oauthbearer':
      return {
        mechanism: 'oauthbearer',
        oauthBearerProvider: async () => ({ value: await fetchToken(sasl) }),
      };
  }
}
