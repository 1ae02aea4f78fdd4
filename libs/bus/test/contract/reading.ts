import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Bus, ReadFrom } from '@sluice/bus';
import { all, entry, eventually, grace, numbers, onLog, questionOf, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

async function questions(bus: Bus, from: ReadFrom): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const message of bus.read(['agent.requests'], { from })) found.push(questionOf(message));
  return found;
}

export function reading(harness: BusHarness): void {
  it(
    'reads from the start, from an offset, from a time and from the end, up to the end',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.publish(numbers(3).map((question) => request('g-1', question)));
        await delay(30);
        const time = Date.now();
        await delay(30);
        await bus.publish([request('g-1', 'later')]);
        const third = (await all(bus, 'agent.requests'))[2];
        expect(await questions(bus, 'start')).toEqual(['0', '1', '2', 'later']);
        expect(await questions(bus, { offset: third?.offset ?? NaN })).toEqual(['2', 'later']);
        const { partition = NaN, offset = NaN } = third ?? {};
        expect(await questions(bus, { partition, offset })).toEqual(['2', 'later']);
        for (const other of [partition + 1, 1_000_000])
          expect(await questions(bus, { partition: other, offset: 0 })).toEqual([]);
        expect(await questions(bus, { time })).toEqual(['later']);
        expect(await questions(bus, { time: time + 3_600_000 })).toEqual([]);
        expect(await questions(bus, 'end')).toEqual([]);
        const behind = (last: number | null): Promise<readonly string[]> =>
          questions(bus, { after: (topic, at) => (topic === 'agent.requests' && at === partition ? last : null) });
        expect(await behind(offset)).toEqual(['later']);
        expect(await behind(null)).toEqual(['0', '1', '2', 'later']);
        // What was read there was on another log.
        expect(await behind(1_000_000)).toEqual(['0', '1', '2', 'later']);
      }),
    testMs,
  );

  it(
    'decodes a payload that it is given, and says why it cannot',
    () =>
      onLog(harness, async ({ bus }) => {
        const json = Buffer.from('{"question":"Who?","session_id":"g-d"}');
        expect(await bus.decode('agent.requests', json)).toMatchObject({ question: 'Who?', sessionId: 'g-d' });
        const undecodable = bus.decode('agent.requests', Buffer.from([9, 9]));
        await expect(undecodable).rejects.toMatchObject({ code: 'undecodable', retryable: false });
      }),
    testMs,
  );

  it(
    'ends where the log ended at the call, even while it grows',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.publish(numbers(3).map((question) => request('g-2', question)));
        const found: string[] = [];
        for await (const message of bus.read(['agent.requests'], { from: 'start' })) {
          found.push(questionOf(message));
          await bus.publish([request('g-2', 'more')]);
        }
        expect(found).toEqual(['0', '1', '2']);
      }),
    testMs,
  );

  it(
    'follows what comes until its signal aborts',
    () =>
      onLog(harness, async ({ bus }) => {
        const ending = new AbortController();
        const found: string[] = [];
        await bus.publish([request('g-3', 'before')]);
        const following = (async () => {
          const options = { from: 'end', follow: true, signal: ending.signal } as const;
          for await (const message of bus.read(['agent.requests'], options)) found.push(questionOf(message));
        })();
        await grace();
        await bus.publish([request('g-3', 'a')]);
        await eventually('the first', () => found.length === 1);
        await bus.publish([request('g-3', 'b'), request('g-3', 'c')]);
        await eventually('three', () => found.length === 3);
        ending.abort();
        await following;
        expect(found).toEqual(['a', 'b', 'c']);
      }),
    testMs,
  );

  it(
    'reads several topics, each in its order, and no other',
    () =>
      onLog(harness, async ({ bus }) => {
        const [first] = await publishBoth(bus);
        expect(first).toBeDefined();
        const found = await all(bus, 'agent.requests', 'agent.audit');
        const of = (topic: string) => found.filter((message) => message.topic === topic).map(({ offset }) => offset);
        for (const topic of ['agent.requests', 'agent.audit']) {
          expect(of(topic)).toHaveLength(5);
          expect(of(topic)).toEqual([...of(topic)].sort((a, b) => a - b));
        }
        expect(await all(bus, 'agent.steps')).toEqual([]);
      }),
    testMs,
  );

  it(
    'stops at what cannot be decoded, or skips it and says so',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        await bus.publish([request('g-5', 'a')]);
        await appendRaw('agent.requests', 'g-5', Buffer.from('{broken'), {});
        await bus.publish([request('g-5', 'b')]);
        await expect(questions(bus, 'start')).rejects.toMatchObject({ code: 'undecodable' });
        const passed: string[] = [];
        const found: string[] = [];
        const onUndecodable = ({ topic }: { topic: string }, reason: string) => passed.push(`${topic}: ${reason}`);
        for await (const message of bus.read(['agent.requests'], { from: 'start', onUndecodable })) {
          found.push(questionOf(message));
        }
        expect(found).toEqual(['a', 'b']);
        expect(passed).toEqual([expect.stringMatching(/agent\.requests: .*not JSON/)]);
      }),
    testMs,
  );

  it(
    'leaves out what the log took too late, and decodes none of it',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        await bus.publish([request('g-6', 'a')]);
        let before = Infinity;
        for await (const { timestamp } of bus.read(['agent.requests'], { from: 'start' })) before = timestamp + 1;
        await eventually('a later time', () => Date.now() > before);
        await appendRaw('agent.requests', 'g-8', Buffer.from('{broken'), {});
        const found: string[] = [];
        for await (const message of bus.read(['agent.requests'], { from: 'start', before }))
          found.push(questionOf(message));
        expect(found).toEqual(['a']);
      }),
    testMs,
  );

  it(
    'tells only of the keys that are wanted, which may change while it follows, and decodes no other',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        const wanted = new Set(['g-6']);
        const ofKey = (key: string): boolean => wanted.has(key);
        await bus.publish([request('g-6', 'a'), request('g-7', 'b')]);
        await appendRaw('agent.requests', 'g-8', Buffer.from('{broken'), {});
        const past: string[] = [];
        for await (const message of bus.read(['agent.requests'], { from: 'start', ofKey }))
          past.push(questionOf(message));
        expect(past).toEqual(['a']);

        const ending = new AbortController();
        const found: string[] = [];
        const following = (async () => {
          const options = { from: 'end', follow: true, signal: ending.signal, ofKey } as const;
          for await (const message of bus.read(['agent.requests'], options)) found.push(questionOf(message));
        })();
        await grace();
        await bus.publish([request('g-7', 'c'), request('g-6', 'd')]);
        await eventually('the first', () => found.length === 1);
        wanted.add('g-7');
        await bus.publish([request('g-7', 'e')]);
        await eventually('the second', () => found.length === 2);
        ending.abort();
        await following;
        expect(found).toEqual(['d', 'e']);
      }),
    testMs,
  );
}

async function publishBoth(bus: Bus) {
  await bus.publish([request('g-4', 'source')]);
  const found = await all(bus, 'agent.requests');
  const source = found[0];
  if (source === undefined) throw new Error('What was published is not on the log.');
  for (const text of numbers(4)) await bus.publish([entry(source, text), request('g-4', text)]);
  await bus.publish([entry(source, 'last')]);
  return found;
}
