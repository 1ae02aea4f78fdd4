import { isCall, recordsOf, text } from '../check/observed.ts';
import type { World } from '../parts/world.ts';
import type { Random } from '../random.ts';
import type { Inflict } from './fault.ts';

const inputs = [
  { topic: 'agent.requests', group: 'filter' },
  { topic: 'agent.steps', group: 'filter' },
  { topic: 'agent.toolsets', group: 'agent' },
  { topic: 'agent.tool-calls', group: 'executor' },
  { topic: 'agent.calls', group: 'executor' },
] as const;

/** The largest that a record of one batch may be on a broker as it comes, with room for what Kafka adds, bytes. */
const largest = 1_040_000;

/**
 * Records that nobody can read, that are too large, or that were there before, among those of honest sessions; and
 * some that are just not too large.
 */
export const spoiledRecords: Inflict = async (world, random) => {
  const { load, say } = world;
  let count = load.spoiled.length;
  const put = async (
    topic: string,
    group: string,
    code: string,
    value: Buffer,
    name = `spoiled-${++count}`,
  ): Promise<void> => {
    const place = await load.put(topic, name, value);
    // What cannot be read has no id: its run is named after its place.
    const unread = `${topic}-${place.partition}-${place.offset}`;
    const isRequest = topic === 'agent.requests' || topic === 'agent.calls';
    const runId = !isRequest ? null : code === 'undecodable' ? unread : name;
    load.spoiled.push({ topic, group, code, runId, ...place });
  };
  for (const { topic, group } of random.shuffled(inputs)) {
    await put(topic, group, 'undecodable', Buffer.from(noise(random, random.between(0, 400))));
    await put(topic, group, 'undecodable', Buffer.concat([Buffer.from([0, 0, 0x7f, 0xff, 0xff]), noise(random, 40)]));
    await put(topic, group, 'undecodable', Buffer.from('{"question": 7}'));
    await put(topic, group, 'undecodable', Buffer.alloc(largest, 'x'));
  }
  const large = { question: 'x'.repeat(largest - 200), group: ['work'], request_id: `spoiled-${count + 1}` };
  await put('agent.requests', 'filter', 'output_too_large', Buffer.from(JSON.stringify(large)));
  await load.askLarge(random);
  const copies = await copy(world, random);
  say(
    `  ${load.spoiled.length} records so far that are to lead to nothing; ${copies} of them are copies of honest ones`,
  );
};

/** Turns that were taken already come again, as they were. */
async function copy({ load, watcher }: World, random: Random): Promise<number> {
  const found = await watcher.read();
  let copies = 0;
  for (const [topic, group] of [
    ['agent.toolsets', 'agent'],
    ['agent.tool-calls', 'executor'],
    ['agent.steps', 'filter'],
  ] as const) {
    const honest = recordsOf(found, topic).filter(({ record }) => text(record, 'request_id').startsWith('r-'));
    for (const one of random.shuffled(honest).slice(0, 5)) {
      // The step of a call without a model leads to nothing, and so does its copy.
      const code = topic === 'agent.steps' && isCall(one) ? null : 'replayed';
      const { key, value } = one;
      load.spoiled.push({ topic, group, code, runId: null, ...(await load.put(topic, key, value)) });
      copies++;
    }
  }
  return copies;
}

function noise(random: Random, length: number): Buffer {
  // The first byte is neither that of Avro with a schema’s number nor that of JSON.
  return Buffer.from([0x55, ...Array.from({ length }, () => random.between(0, 255))]);
}
