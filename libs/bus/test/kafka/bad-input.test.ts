import { beforeAll, describe, expect, it } from '@jest/globals';
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { selfContained } from '@sluice/contracts';
import type { Handler } from '@sluice/bus';
import avsc from 'avsc';
import type { Schema } from 'avsc';
import { CompressionTypes } from 'kafkajs';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { all, entries, entry, eventually, grace, request, requestRecord, testMs } from '../contract/harness.js';
import { gatewayTo } from './away.js';
import { onKafka, standing, withProducer } from './on-broker.js';

const topics = ['agent.requests'] as const;
const handle: Handler = async (message) => [entry(message)];

/** Confluent’s framing: a zero, the schema’s number, the bytes. */
function framed(id: number, avro: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeInt32BE(id, 1);
  return Buffer.concat([head, avro]);
}

describe('what others put on the log', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it.each([
    ['an unknown schema number', framed(2_000_000_000, Buffer.from([1, 2, 3])), /names schema 2000000000/],
    ['neither Avro nor JSON', Buffer.from('question=x'), /neither Avro .* nor JSON/],
    ['JSON that is cut short', Buffer.from('{"question":'), /not JSON/],
    ['a megabyte of nonsense', Buffer.alloc(1_048_000, 7), /neither Avro .* nor JSON/],
    ['nothing at all', Buffer.alloc(0), /neither Avro .* nor JSON/],
  ])(
    'is dead-lettered as it was if it is %s, and the partition goes on',
    (_, value, reason) =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        await bus.appendRaw('agent.requests', 's', value);
        await bus.publish([request('s', 'next')]);
        await bus.subscribe({ group: 'i-1', topics, handle });
        await eventually('the next one', async () => (await entries(bus)).length >= 1);
        const [letter, ...more] = await all(bus, 'agent.dead-letters');
        expect(more).toEqual([]);
        expect(letter?.record).toMatchObject({ code: 'undecodable', key: 's', reason: expect.stringMatching(reason) });
        expect(Buffer.from(letter?.record.value ?? []).equals(value)).toBe(true);
        await eventually('no lag', async () => {
          const { committed, end } = await standing(options, 'i-1', 'agent.requests');
          return committed === end;
        });
      }),
    testMs,
  );

  it(
    'may have no key, no value, headers given twice, and be compressed with gzip',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const seen: { key: string; headers: Readonly<Record<string, string>> }[] = [];
        await withProducer(options, undefined, (producer) =>
          producer.send({
            topic: `${options.prefix}agent.requests`,
            compression: CompressionTypes.GZIP,
            messages: [
              { key: 'k', value: null, partition: 0 },
              { value: '{"question":"no key"}', headers: { twice: ['1', Buffer.from('2')], once: 'é' }, partition: 0 },
            ],
          }),
        );
        await bus.subscribe({
          group: 'i-2',
          topics,
          handle: async (message) => {
            seen.push(message);
            return [entry(message)];
          },
        });
        await eventually('the output', async () => (await entries(bus)).length >= 1);
        expect(seen).toMatchObject([{ key: '', headers: { twice: '2', once: 'é' } }]);
        expect((await all(bus, 'agent.dead-letters')).map(({ record }) => [record.code, record.value.length])).toEqual([
          ['undecodable', 0],
        ]);
      }),
    testMs,
  );

  it(
    'may be written with a newer schema; while the registry is away it waits, and nothing is dead-lettered',
    async () => {
      const { url } = await infra('registry');
      const gateway = await gatewayTo(url);
      await onKafka(
        async (start, options) => {
          const { bus, logged } = await start();
          const known = selfContained('AgentRequest');
          const newer = { ...known, fields: [...known.fields, { name: 'mood', type: 'string', default: 'calm' }] };
          const { id } = await new SchemaRegistry({ host: url }).register(
            { type: SchemaType.AVRO, schema: JSON.stringify(newer) },
            { subject: `${options.prefix}agent.requests-value`, compatibility: 'FULL_TRANSITIVE' as never },
          );
          const { question, sessionId, ...rest } = requestRecord('s', 'from the future');
          const wire = {
            ...Object.fromEntries(known.fields.map(({ name }) => [name, null])),
            question,
            session_id: sessionId,
            history: rest.history,
            mood: 'curious',
          };
          const type = avsc.Type.forSchema(newer as unknown as Schema);
          await gateway.close();
          await bus.appendRaw('agent.requests', 's', framed(id, type.toBuffer(wire)));
          await bus.publish([request('s', 'next')]);
          await bus.subscribe({ group: 'i-3', topics, handle });
          await eventually('a word about the registry', () =>
            /The schema registry at .* cannot be reached.*The partition waits for it\./.test(logged.join()),
          );
          await grace();
          expect(await all(bus, 'agent.dead-letters', 'agent.audit')).toEqual([]);
          await expect(bus.check()).rejects.toThrow(/schema registry/);
          await gateway.open();
          await eventually('both', async () => (await entries(bus)).length >= 2);
          expect(await entries(bus)).toEqual(['from the future', 'next']);
          await bus.check();
        },
        { registry: { url: gateway.url, compatibility: 'FULL_TRANSITIVE' } },
      );
      await gateway.close();
    },
    testMs,
  );
});
