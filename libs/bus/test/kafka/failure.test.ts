import { describe, expect, it } from '@jest/globals';
import { KafkaJSConnectionError } from 'kafkajs';
import { brokerFault } from '../../src/kafka/kafkajs/failure.js';

const failed = (message: string, code: string): Error => {
  const cause = Object.assign(new Error(message), { code });
  return Object.assign(new KafkaJSConnectionError(`Connection error: ${message}`), { cause, code });
};

describe('what is said of brokers that cannot be had', () => {
  it.each(
    [
    [Object.assign(new Error('Request is not valid given the current SASL state'), { type: 'ILLEGAL_SASL_STATE', code: 34 }), false, /takes no login at this port\./],
    [new TypeError("Cannot destructure property 'partitions' of 'high.pop(...)' as it is undefined."), true, /does not say where its topics’ partitions stand\./],
  ] /* prettier-ignore */,
  )('of an answer that kafkajs has no word for: %s', (error, retryable, message) => {
    const fault = brokerFault('The log cannot be opened', ['kafka-1:9092'], error);
    expect(fault).toMatchObject({ retryable, message: expect.stringMatching(message) });
  });

  it.each([
    [
      'getaddrinfo ENOTFOUND kafka-2',
      'ENOTFOUND',
      'has the unknown host name kafka-2. Start that broker, or correct the address.',
    ],
    [
      'getaddrinfo EAI_AGAIN kafka-2',
      'EAI_AGAIN',
      'has the unknown host name kafka-2. Start that broker, or correct the address.',
    ],
    ['lookup failed', 'ENOTFOUND', 'has an unknown host name. Start that broker, or correct the address.'],
    ['connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED', 'refuses connections. Start it, or correct the address.'],
  ])('of “%s”', (message, code, reason) => {
    const fault = brokerFault('The group g cannot be joined', ['kafka-1:9092', 'kafka-2:9092'], failed(message, code));
    expect(fault).toMatchObject({
      code: 'storage',
      retryable: true,
      message: `The group g cannot be joined: Kafka at kafka-1:9092, kafka-2:9092 ${reason}`,
    });
  });

  it.each([
    ['TOPIC_AUTHORIZATION_FAILED', false, /does not allow this user to do it .* Grant the permission\.$/],
    ['TOPIC_ALREADY_EXISTS', true, /says “Topic creation errors”\.$/],
  ])('of several topics at once, where %s is said of one', (type, retryable, message) => {
    const one = Object.assign(new Error('of the topic'), { type });
    const error = Object.assign(new Error('Topic creation errors'), { errors: [one] });
    expect(brokerFault('The log cannot be opened', ['kafka-1:9092'], error)).toMatchObject({
      retryable,
      message: expect.stringMatching(message),
    });
  });
});
