import { expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Dead, Outgoing } from '@sluice/bus';
import { all, entries, entry, eventually, onLog, questionOf, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

const quickly = { initialMs: 20, maxMs: 100, attempts: 4 };
const headers = { traceparent: '00-1', authorization: 'Bearer secret', Authorization: 'Basic secret' };

export function failures(harness: BusHarness): void {
  it(
    'repeats a record whose fault may pass, waiting longer each time, its session behind it and no other',
    () =>
      onLog(harness, async ({ bus }) => {
        const attempts: { attempt: number; at: number }[] = [];
        await bus.publish([request('f-1', 'fails'), request('f-1', 'waits'), request('f-1-other', 'goes on')]);
        await bus.subscribe({
          group: 'f-1',
          topics: ['agent.requests'],
          retry: { initialMs: 150, maxMs: 10_000, attempts: 4 },
          handle: async (message, { attempt }) => {
            if (questionOf(message) === 'fails') {
              attempts.push({ attempt, at: performance.now() });
              if (attempt < 4) throw new Fault('model_unreachable', 'No answer.', true);
            }
            return [entry(message)];
          },
        });
        await eventually('three outputs', async () => (await entries(bus)).length >= 3);
        expect(await entries(bus)).toEqual(['goes on', 'fails', 'waits']);
        expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
        const waits = attempts.slice(1).map(({ at }, index) => at - (attempts[index]?.at ?? 0));
        expect(waits.map((wait, index) => wait > 140 * 2 ** index)).toEqual([true, true, true]);
        expect(await all(bus, 'agent.dead-letters')).toEqual([]);
      }),
    testMs,
  );

  it(
    'puts a record among the dead letters when its attempts are used up, and goes on with its session',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.publish([request('f-2', 'fails'), request('f-2', 'waits')]);
        await bus.subscribe({
          group: 'f-2',
          topics: ['agent.requests'],
          retry: quickly,
          handle: async (message) => {
            if (questionOf(message) === 'fails')
              throw new Fault('model_unreachable', 'No answer from the model.', true);
            return [entry(message)];
          },
        });
        await eventually('the next one’s output', async () => (await entries(bus)).length >= 1);
        const [letter] = await all(bus, 'agent.dead-letters');
        expect(letter?.record).toMatchObject({ code: 'retries_exhausted', attempts: 4, group: 'f-2' });
        expect(letter?.record.reason).toMatch(/model_unreachable.*No answer from the model/);
      }),
    testMs,
  );

  it.each([
    [
      'a fault that will not pass',
      new Fault('invalid_request', 'It cannot be so.', false),
      'invalid_request',
      'It cannot be so.',
    ],
    ['any other exception', new TypeError('x is undefined'), 'unexpected', 'x is undefined'],
  ])(
    'puts a record among the dead letters at once for %s: as it was, without credentials',
    (_, error, code, reason) =>
      onLog(harness, async ({ bus, appendRaw }) => {
        const value = Buffer.from('{"question":"fails","session_id":"f-3", "extra": "kept as it was"}');
        const before = Date.now() - 60_000;
        await appendRaw('agent.requests', 'f-3-key', value, headers);
        await bus.publish([request('f-3', 'waits')]);
        await bus.subscribe({
          group: 'f-3',
          topics: ['agent.requests'],
          handle: async (message) => {
            if (questionOf(message) === 'fails') throw error;
            return [entry(message)];
          },
        });
        await eventually('the dead letter', async () => (await all(bus, 'agent.dead-letters')).length === 1);
        await eventually('the next one’s output', async () => (await entries(bus)).length >= 1);
        const [source] = await all(bus, 'agent.requests');
        const [letter] = await all(bus, 'agent.dead-letters');
        expect(letter?.record).toMatchObject({
          topic: 'agent.requests',
          partition: source?.partition,
          offset: source?.offset,
          timestamp: source?.timestamp,
          group: 'f-3',
          key: 'f-3-key',
          code,
          attempts: 1,
        });
        expect(letter?.record.reason).toContain(reason);
        expect(Buffer.from(letter?.record.value ?? []).equals(value)).toBe(true);
        expect({ ...letter?.record.headers }).toEqual({ traceparent: '00-1' });
        expect(letter?.record.failedAt).toBeGreaterThan(before);
      }),
    testMs,
  );

  it(
    'puts what cannot be decoded among the dead letters, and tells onDead that there is no message',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        const value = Buffer.from([9, 8, 7]);
        const dead: Dead[] = [];
        await appendRaw('agent.requests', 'f-4', value, headers);
        await bus.publish([request('f-4', 'good')]);
        await bus.subscribe({
          group: 'f-4',
          topics: ['agent.requests'],
          handle: async (message) => [entry(message)],
          onDead: (one) => (dead.push(one), []),
        });
        await eventually('the good one’s output', async () => (await entries(bus)).length >= 1);
        await eventually('the dead letter', async () => (await all(bus, 'agent.dead-letters')).length === 1);
        const [letter] = await all(bus, 'agent.dead-letters');
        expect(letter?.record).toMatchObject({ code: 'undecodable', key: 'f-4', attempts: 1 });
        expect(Buffer.from(letter?.record.value ?? []).equals(value)).toBe(true);
        expect(dead).toMatchObject([
          { message: null, code: 'undecodable', key: 'f-4', headers: { traceparent: '00-1' } },
        ]);
        expect(dead[0]?.headers).not.toHaveProperty('authorization');
      }),
    testMs,
  );

  it(
    'reads a payload that is JSON',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        await appendRaw('agent.requests', 'f-5', Buffer.from('{"question":"as JSON"}'), {});
        await bus.subscribe({ group: 'f-5', topics: ['agent.requests'], handle: async (message) => [entry(message)] });
        await eventually('the output', async () => (await entries(bus, 'f-5')).length >= 1);
        expect(await entries(bus, 'f-5')).toEqual(['as JSON']);
      }),
    testMs,
  );

  it(
    'puts what onDead gives on the log together with the dead letter',
    () =>
      onLog(harness, async ({ bus }) => {
        const seen: Promise<readonly unknown[]>[] = [];
        await bus.subscribe({
          group: 'f-6',
          topics: ['agent.requests'],
          handle: async () => {
            throw new Fault('invalid_request', 'It cannot be so.', false);
          },
          onDead: ({ message, attempts, reason }, { afterCommit }) => {
            afterCommit(() => seen.push(Promise.all([entries(bus), all(bus, 'agent.dead-letters')])));
            return message === null ? [] : [entry(message, `${attempts}: ${reason}`)];
          },
        });
        await bus.publish([request('f-6', 'fails')]);
        await eventually('the commit', () => seen.length > 0);
        expect(await seen[0]).toMatchObject([['1: It cannot be so.'], [{ record: { code: 'invalid_request' } }]]);
      }),
    testMs,
  );

  it.each([
    [
      'throws',
      () => {
        throw new Error('This fails too.');
      },
    ],
    ['gives what cannot go on the log', () => [request('f-7', 'x'.repeat(1_000_001))]],
  ] as const)(
    'lets the dead letter go out alone if onDead %s',
    (_, onDead: () => readonly Outgoing[]) =>
      onLog(harness, async ({ bus }) => {
        await bus.publish([request('f-7', 'fails'), request('f-7', 'waits')]);
        await bus.subscribe({
          group: 'f-7',
          topics: ['agent.requests'],
          handle: async (message) => {
            if (questionOf(message) === 'fails') throw new Error('It fails.');
            return [entry(message)];
          },
          onDead,
        });
        await eventually('the next one’s output', async () => (await entries(bus)).length >= 1);
        expect(await all(bus, 'agent.dead-letters')).toHaveLength(1);
        expect(await all(bus, 'agent.requests')).toHaveLength(2);
      }),
    testMs,
  );

  it.each([
    ['is too large', { details: 'x'.repeat(1_000_001) }, 'output_too_large', /agent\.audit has 10000\d\d bytes/],
    ['has too long a key', { key: 'x'.repeat(16_385) }, 'output_too_large', /key of .* agent\.audit has 16385 bytes/],
    ['does not have the topic’s shape', { details: 7 as unknown as string }, 'unexpected', /agent\.audit.*shape/],
  ])(
    'puts a record among the dead letters if an output %s, and none of its outputs on the log',
    (_, { details, key }: { readonly details?: string; readonly key?: string }, code, reason) =>
      onLog(harness, async ({ bus }) => {
        await bus.publish([request('f-8', 'fails'), request('f-8', 'waits')]);
        await bus.subscribe({
          group: 'f-8',
          topics: ['agent.requests'],
          handle: async (message) =>
            questionOf(message) === 'fails'
              ? [entry(message), { ...entry(message, details), ...(key === undefined ? {} : { key }) }]
              : [entry(message)],
        });
        await eventually('the next one’s output', async () => (await entries(bus)).length >= 1);
        expect(await entries(bus)).toEqual(['waits']);
        const [letter] = await all(bus, 'agent.dead-letters');
        expect(letter?.record.code).toBe(code);
        expect(letter?.record.reason).toMatch(reason);
      }),
    testMs,
  );
}
