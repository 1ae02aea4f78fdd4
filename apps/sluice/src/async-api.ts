import type { JsonObject } from '@sluice/core';
import { allTopics, recordNames, recordSchema, roles, selfContained, subjectOf, topicEntry } from '@sluice/contracts';
import type { Role, Topic } from '@sluice/contracts';
import { webhookEvents } from '../../notifier/src/event-schemas.js';

/** Headers of records that others than the services may meet; docs/lifecycle.md and docs/upstream.md say more. */
const headers = {
  type: 'object',
  properties: {
    authorization: {
      type: 'string',
      description: 'The credential of a request, cancellation or decision: `Bearer …`.',
    },
    traceparent: { type: 'string', description: 'The trace, as W3C Trace Context writes it.' },
  },
} as const;

/** What Standard Webhooks has in headers. */
const webhookHeaders = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': { type: 'string', description: 'The id of the event.' },
    'webhook-timestamp': { type: 'string', description: 'When it was sent, in seconds since the epoch.' },
    'webhook-signature': { type: 'string', description: '`v1,…` by each secret of the subscription.' },
  },
} as const;

/**
 * What is on the log, as AsyncAPI 3.0: a channel for each topic with the Avro schema of its records, and an operation
 * for each service that sends or receives them. Follows from the list of topics and from schemas/. Beside them a
 * channel with what the notifier sends as webhooks.
 */
export function asyncApi(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Sluice on Kafka, and its webhooks',
      version: '1.0.0',
      description:
        'Topics of Sluice and the records on them. Your system sends AgentRequests, and receives AgentStepResults and one AgentResponse a run. Where SLUICE_PREFIX is set, it stands before each address. On the embedded log the records are the same. Webhooks are CloudEvents 1.0 in structured mode, signed as Standard Webhooks.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'avro/binary',
    servers: {
      kafka: {
        host: '{broker}',
        protocol: 'kafka',
        description: 'The brokers that KAFKA_BROKERS names.',
        variables: { broker: { default: 'localhost:9092' } },
        bindings: {
          kafka: {
            schemaRegistryUrl: 'http://localhost:8081/apis/ccompat/v7',
            schemaRegistryVendor: 'apicurio',
            bindingVersion: '0.5.0',
          },
        },
      },
      receiver: {
        host: '{receiver}',
        protocol: 'https',
        description: 'The receiver of a subscription.',
        variables: { receiver: { default: 'hooks.example.org' } },
      },
    },
    channels: {
      ...Object.fromEntries(allTopics.map((topic) => [topic, channelOf(topic)])),
      webhooks: webhookChannel(),
    },
    operations: {
      ...Object.fromEntries(allTopics.flatMap(operationsOf)),
      'notifier.send.webhooks': {
        action: 'send',
        channel: { $ref: '#/channels/webhooks' },
        summary: 'The notifier sends an event to a subscription, at least once.',
        tags: [{ name: 'notifier' }],
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
        messages: webhookEvents().map(({ type }) => ({ $ref: `#/channels/webhooks/messages/${type}` })),
      },
    },
    components: {
      messages: Object.fromEntries([
        ...allTopics.map((topic) => [recordNames[topic], messageOf(topic)] as const),
        ...webhookEvents().map(({ type, about, body }) => [type, webhookMessage(type, about, body)] as const),
      ]),
      schemas: Object.fromEntries(
        allTopics.map((topic) => [
          recordNames[topic],
          { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: selfContained(recordNames[topic]) },
        ]),
      ),
    },
  };
}

function channelOf(topic: Topic): object {
  const name = recordNames[topic];
  const { about, need, kept } = topicEntry(topic);
  return {
    address: topic,
    summary: recordSchema(name).doc,
    description: `${about === undefined ? '' : `${sentence(plain(about))} `}Without it is missing: ${plain(need)}. Kept ${keptWords[kept]}.`,
    servers: [{ $ref: '#/servers/kafka' }],
    messages: { [name]: { $ref: `#/components/messages/${name}` } },
    bindings: { kafka: { topic, bindingVersion: '0.5.0' } },
  };
}

function webhookChannel(): object {
  return {
    address: null,
    summary: 'What happened, for the receivers of `notify`.',
    description:
      'The address is the `url` of each subscription. `sluice notify test` sends an event whose data has `test: true` and no more than a run and a link.',
    servers: [{ $ref: '#/servers/receiver' }],
    messages: Object.fromEntries(webhookEvents().map(({ type }) => [type, { $ref: `#/components/messages/${type}` }])),
  };
}

function webhookMessage(type: string, about: string, body: JsonObject): object {
  return {
    ...{ name: type, title: type, summary: about, contentType: 'application/cloudevents+json' },
    ...{ headers: webhookHeaders, payload: body },
  };
}

const keptWords = {
  setting: 'for SLUICE_RETENTION_HOURS, a week by default',
  hour: 'for an hour',
  'for ever': 'for ever',
} as const;

function messageOf(topic: Topic): object {
  const name = recordNames[topic];
  return {
    name,
    title: name,
    summary: recordSchema(name).doc,
    contentType: 'avro/binary',
    headers,
    payload: { $ref: `#/components/schemas/${name}` },
    bindings: {
      kafka: {
        key: {
          type: 'string',
          description: 'The `session_id` of the run; the tenant or the name where there is none.',
        },
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: 'confluent',
        schemaLookupStrategy: 'TopicIdStrategy',
        bindingVersion: '0.5.0',
      },
    },
    'x-subject': subjectOf(topic),
  };
}

/** An operation for each role that sends or receives records of the topic. */
function operationsOf(topic: Topic): readonly (readonly [string, object])[] {
  const { writers, readers } = topicEntry(topic);
  const each = (who: Readonly<Partial<Record<Role, string>>>, action: 'send' | 'receive') =>
    Object.entries(who).map(([role, what]) => {
      const { called } = roles[role as Role];
      const does = `${called} ${action === 'send' ? 'sends to' : 'receives from'} ${topic}`;
      return [
        `${role}.${action}.${topic}`,
        {
          action,
          channel: { $ref: `#/channels/${topic}` },
          summary: sentence(`${does.charAt(0).toUpperCase()}${does.slice(1)}${what === '' ? '' : ` ${plain(what)}`}`),
          tags: [{ name: role }],
          messages: [{ $ref: `#/channels/${topic}/messages/${recordNames[topic]}` }],
        },
      ] as const;
    });
  return [...each(writers, 'send'), ...each(readers, 'receive')];
}

/** Without links, which lead to pages of docs/. */
function plain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
