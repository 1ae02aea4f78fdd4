import { describe, expect, it } from '@jest/globals';
import type { Encoded } from '../../src/processing/outputs.js';
import { Names } from '../../src/kafka/names.js';
import { produceBatchesOf } from '../../src/kafka/produce/produce-batches.js';

const names = new Names('p-');

function output(bytes: number, key = 'k', topic: Encoded['topic'] = 'agent.audit'): Encoded {
  return { topic, key, value: Buffer.alloc(bytes), headers: {} };
}

describe('point 8 of the recipe: what goes in one send', () => {
  it('is at most 512 KB of a topic, in the order given', () => {
    const records = Array.from({ length: 40 }, (_, index) => output(32 * 1024, String(index)));
    const sends = produceBatchesOf(records, names);
    const keys = sends.flatMap((send) => send.flatMap(({ records: of }) => of.map(({ key }) => key)));
    expect(keys).toEqual(records.map(({ key }) => key));
    for (const [send] of sends) {
      const bytes = send?.records.reduce((sum, { value }) => sum + value.length, 0);
      expect(bytes).toBeLessThanOrEqual(512 * 1024);
    }
    expect(sends).toHaveLength(3);
  });

  it('is a record alone if it is larger than that', () => {
    const sends = produceBatchesOf([output(10), output(900_000), output(900_000), output(10)], names);
    expect(sends.map(([send]) => send?.records.map(({ value }) => value.length))).toEqual([
      [10],
      [900_000],
      [900_000],
      [10],
    ]);
  });

  it('is one topic beside another, by the names of the broker', () => {
    const sends = produceBatchesOf([output(400_000), output(400_000, 'k', 'agent.steps'), output(1)], names);
    expect(sends.map((send) => send.map(({ topic, records: of }) => [topic, of.length]))).toEqual([
      [
        ['p-agent.audit', 2],
        ['p-agent.steps', 1],
      ],
    ]);
  });

  it('counts keys and headers too', () => {
    const headers = { authorization: 'x'.repeat(300_000) };
    expect(
      produceBatchesOf(
        [
          { ...output(1), headers },
          { ...output(1), headers },
        ],
        names,
      ),
    ).toHaveLength(2);
  });

  it('is nothing for nothing', () => expect(produceBatchesOf([], names)).toEqual([]));
});
