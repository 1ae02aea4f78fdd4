import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import type { Handler } from '@sluice/bus';
import { compressFrame } from 'lz4-napi';
import { compress as compressSnappy } from 'snappy';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { readCompressed } from '../../src/kafka/kafkajs/compressed.js';
import { largestBatch, lz4, snappy } from '../../src/kafka/kafkajs/decompress.js';
import { all, entries, entry, eventually, request, testMs } from '../contract/harness.js';
import { makeTopics, onKafka, standing, withProducer } from './on-broker.js';

const topics = ['agent.requests'] as const;
const handle: Handler = async (message) => [entry(message)];

type Compress = (records: Buffer) => Promise<Buffer>;

/** As the Java client frames it: blocks with their lengths, behind a magic and two versions. */
const xerial: Compress = async (records) => {
  const head = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  const half = Math.ceil(records.length / 2);
  const blocks = await Promise.all(
    [records.subarray(0, half), records.subarray(half)].map(async (part) => {
      const block = await compressSnappy(part);
      const length = Buffer.alloc(4);
      length.writeInt32BE(block.length);
      return Buffer.concat([length, block]);
    }),
  );
  return Buffer.concat([head, ...blocks]);
};

const kinds: readonly (readonly [name: string, type: CompressionTypes, compress: Compress])[] = [
  ['gzip', CompressionTypes.GZIP, promisify(gzip)],
  ['snappy', CompressionTypes.Snappy, async (records) => Buffer.from(await compressSnappy(records))],
  ['snappy in the Java client’s framing', CompressionTypes.Snappy, xerial],
  ['lz4', CompressionTypes.LZ4, async (records) => Buffer.from(await compressFrame(records))],
  ['zstd', CompressionTypes.ZSTD, promisify(zstdCompress)],
];

const codecs = CompressionCodecs as unknown as Record<number, () => { compress: unknown; decompress: Compress }>;

/** What a foreign producer writes its next batches with; they are read as others are. */
function writing(type: CompressionTypes, compress: Compress): void {
  readCompressed();
  const { decompress } = (codecs[type] as () => { decompress: Compress })();
  codecs[type] = () => ({ compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer), decompress });
}

/** The topic as its maker has it, and not as Sluice has. */
const configEntries = [
  { name: 'compression.type', value: 'producer' },
  { name: 'message.timestamp.type', value: 'LogAppendTime' },
];

const foreign = (question: string) => ({
  key: 's',
  value: JSON.stringify({ question, session_id: 's', group: ['g'] }),
});

describe('what others put on the log compressed', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'is read, whatever it is compressed with',
    () =>
      onKafka(async (start, options) => {
        const topic = `${options.prefix}agent.requests`;
        await makeTopics(options, { topic, numPartitions: 1, replicationFactor: 1, configEntries });
        const { bus } = await start();
        await bus.subscribe({ group: 'c-1', topics, handle });
        await withProducer(options, undefined, async (producer) => {
          for (const [name, type, compress] of kinds) {
            writing(type, compress);
            const messages = [1, 2, 3].map((n) => foreign(`${name} ${n} ${'x'.repeat(2_000)}`));
            await producer.send({ topic, compression: type, messages });
          }
        });
        await bus.publish([request('s', 'next')]);
        const expected = kinds.flatMap(([name]) => [1, 2, 3].map((n) => `${name} ${n}`));
        await eventually('all of them', async () => (await entries(bus)).length > expected.length);
        const found = (await all(bus, 'agent.requests')).map(({ record }) => record.question.replace(/ x+$/, ''));
        expect(found).toEqual([...expected, 'next']);
        expect(await all(bus, 'agent.dead-letters')).toEqual([]);
      }),
    testMs,
  );

  it(
    'is dead-lettered record by record with its place if it cannot be read, and the partition goes on',
    () =>
      onKafka(async (start, options) => {
        const topic = `${options.prefix}agent.requests`;
        await makeTopics(options, { topic, numPartitions: 1, replicationFactor: 1, configEntries });
        const { bus } = await start();
        await bus.publish([request('s', 'first')]);
        // A broker looks at the records, and takes them: compressed they are small.
        const [, type, compress] = kinds.at(-1) as (typeof kinds)[number];
        writing(type, compress);
        const messages = ['a', 'b', 'x'.repeat(largestBatch)].map(foreign);
        await withProducer(options, undefined, (producer) => producer.send({ topic, compression: type, messages }));
        await bus.publish([request('s', 'next')]);
        await bus.subscribe({ group: 'c-2', topics, handle });
        await eventually('the next one', async () => (await entries(bus)).length === 2);
        const letters = (await all(bus, 'agent.dead-letters')).map(({ record }) => record);
        const place = { topic: 'agent.requests', partition: 0, code: 'undecodable', key: '', attempts: 1 };
        const reason = expect.stringMatching(/^The 3 records from offset 1 to 3 .* with zstd, which cannot be read: /);
        expect(letters).toMatchObject([1, 2, 3].map((offset) => ({ ...place, offset, reason })));
        // Readers without a group tell of them too.
        const found: string[] = [];
        const reading = bus.read(topics, { from: 'start', onUndecodable: ({ offset }) => found.push(String(offset)) });
        for await (const message of reading) found.push(message.record.question);
        expect(found).toEqual(['first', '1', '2', '3', 'next']);
        await eventually('no lag', async () => {
          const { committed, end } = await standing(options, 'c-2', 'agent.requests');
          return committed === end;
        });
      }),
    testMs,
  );

  it('is put in place of what is cut short, or has a compression that the protocol does not know', async () => {
    readCompressed();
    const records = await compressFrame(Buffer.alloc(500, 1));
    for (const [number, compressed] of [
      [3, records.subarray(0, 60)],
      [3, records],
      [6, records],
    ] as const) {
      // The head of a batch, as a broker sends it: ten records from offset 7 on, the last of which is its twentieth
      // offset.
      const batch = Buffer.concat([Buffer.alloc(61), compressed]);
      batch.writeBigInt64BE(7n, 0);
      batch.writeInt32BE(batch.length - 12, 8);
      batch.writeInt8(2, 16);
      batch.writeInt32BE(19, 23);
      batch.writeInt32BE(10, 57);
      const text = (await codecs[number]?.().decompress(batch.subarray(61)))?.toString();
      expect(text?.match(/The 10 records from offset 7 to 26 came as one batch/g)).toHaveLength(10);
    }
  });

  it('is refused before it is decompressed if that would fill the memory', async () => {
    const bomb = Buffer.from(await compressFrame(Buffer.alloc(2 * largestBatch)));
    await expect(lz4(bomb)).rejects.toThrow(/more than/);
    await expect(snappy(Buffer.from(await compressSnappy(Buffer.alloc(2 * largestBatch))))).rejects.toThrow(
      /more than/,
    );
    expect((await lz4(Buffer.from(await compressFrame(Buffer.alloc(largestBatch / 2))))).length).toBe(largestBatch / 2);
  });
});
