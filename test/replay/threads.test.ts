import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { openArchive } from '@sluice/archive';
import { createVerifier, readKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { everything, replay, whatIf } from '@sluice/replay';
import type { DecisionSelection, ReplayJob, Threads } from '@sluice/replay';
import { projectRoot } from '../harness/configurations.js';
import { authorizerOf } from './replaying.js';

const folder = join(import.meta.dirname, '../fixtures/released');
/** The thread that the program starts. */
const built = join(projectRoot, 'dist/worker.js');
const day = 24 * 3_600_000;
/**
 * The day on which a log waits until the threads are there; those before have more decisions than are made without
 * any.
 */
const waitOn = 40;

let fixture: readonly Incoming[];
let keys: KeySet;
let configuration: Configuration;
beforeAll(async () => {
  const archive = await openArchive(join(folder, '1.sluice'));
  const all: Incoming[] = [];
  const everyTopic = Object.values(topics);
  for await (const message of archive.read(everyTopic, { from: 'start' })) all.push(message);
  fixture = all;
  keys = readKeySet(readFileSync(join(folder, '1.keys.json'), 'utf8'), 'the fixture');
  const found = all.find((message) => message.topic === 'agent.config') as Incoming<'agent.config'>;
  configuration = JSON.parse(found.record.configuration) as Configuration;
});

/**
 * A log of as many days, all alike but for what is wrong: each day some records are other ones, and one cannot be
 * decoded.
 */
function log(days: number, before: (dayNumber: number) => Promise<void> = () => Promise.resolve()): LogReader {
  return {
    read: <T extends Topic>(wanted: readonly T[], { onUndecodable, signal }: ReadOptions) =>
      (async function* () {
        for (let n = 0; n < days; n++) {
          if (wanted.length > 1) await before(n);
          for (const [at, message] of fixture.entries()) {
            if (signal?.aborted === true) return;
            const { topic, partition, timestamp } = message;
            if (!(wanted as readonly Topic[]).includes(topic)) continue;
            const offset = message.offset + n * 10_000;
            if (at === (7 * n) % fixture.length) onUndecodable?.({ topic, partition, offset }, `on day ${n}`);
            else yield { ...changed(message, at % 11 === n % 11), offset, timestamp: timestamp + n * day } as never;
          }
        }
      })(),
  };
}

function changed(message: Incoming, isTheOne: boolean): Incoming {
  const { topic, record } = message;
  if (!isTheOne || (topic !== 'agent.toolsets' && topic !== 'agent.steps' && topic !== 'agent.responses'))
    return message;
  return {
    ...message,
    record: { ...record, configVersion: 'c-none', sessionId: 'half a pair \ud800' },
    avro: null,
  } as Incoming;
}

/** Threads of the built program, how often each has said something, and when all have said that they are there. */
function threadsOf(count: number) {
  const begun: Promise<unknown>[] = [];
  const answers: number[] = [];
  const threads: Threads<ReplayJob> = {
    count,
    start: (job) => {
      const worker = new Worker(built, { workerData: { job, keys } });
      const n = answers.push(0) - 1;
      worker.on('message', () => (answers[n] = (answers[n] ?? 0) + 1));
      begun.push(once(worker, 'message'));
      return worker;
    },
  };
  const there = async (): Promise<void> => {
    expect(begun).toHaveLength(count);
    await Promise.all(begun);
  };
  return { threads, answers, there };
}

/** Everything that a replay says, in its order. */
async function said(
  kind: 'replay' | 'what-if',
  count: number,
  selection: Partial<DecisionSelection> = {},
): Promise<{ readonly lines: readonly string[]; readonly answers: readonly number[] }> {
  const lines: string[] = [];
  const { threads, answers, there } = threadsOf(count);
  const options = {
    selection: { ...everything, ...selection },
    authorizerOf,
    signal: new AbortController().signal,
    onUndecodable: (place: object, reason: string) => void lines.push(JSON.stringify([place, reason])),
    threads: count === 0 ? null : threads,
  };
  // By then there were enough decisions for threads.
  const reader = log(70, (dayNumber) =>
    dayNumber === waitOn && selection.session === undefined ? there() : Promise.resolve(),
  );
  const policy = { ...configuration.policy, allowedTools: [] };
  const candidate = compileEvaluator({ ...configuration, version: 'c-candidate', policy });
  const found =
    kind === 'replay'
      ? replay(reader, { ...options, verifier: createVerifier(keys) })
      : whatIf(reader, { ...options, verifier: createVerifier(keys), candidate });
  for await (const one of found) lines.push(JSON.stringify(one));
  return { lines, answers };
}

describe('a replay in several threads', () => {
  it.each(['replay', 'what-if'] as const)(
    'says of a log with much wrong in it what one thread says, in its order (%s)',
    async (kind) => {
      const alone = await said(kind, 0);
      const wrong = kind === 'replay' ? '"different"' : '"changes":[{';
      expect(alone.lines.filter((line) => line.includes(wrong)).length).toBeGreaterThan(300);
      expect(alone.lines.filter((line) => line.includes('on day')).length).toBeGreaterThan(40);
      for (const count of kind === 'replay' ? [1, 3] : [2]) {
        const { lines, answers } = await said(kind, count);
        expect(lines).toEqual(alone.lines);
        // Each has said that it is there, and all together have worked.
        expect(answers).toHaveLength(count);
        expect(answers.reduce((sum, times) => sum + times)).toBeGreaterThan(2 * count);
      }
    },
    120_000,
  );

  it('begins none for a range with few decisions in it', async () => {
    const { lines, answers } = await said('replay', 2, { session: 'session-late' });
    expect(lines.some((line) => line.includes('session-late'))).toBe(true);
    expect(answers).toEqual([]);
  });
});

/** A thread that is another program. */
function standIn(program: string) {
  const begun: Promise<unknown>[] = [];
  const exited: Promise<unknown>[] = [];
  const start = (): Worker => {
    const worker = new Worker(`const { parentPort } = require('node:worker_threads');${program}`, { eval: true });
    exited.push(new Promise((resolve) => worker.once('exit', resolve)));
    begun.push(once(worker, 'message'));
    return worker;
  };
  return { count: 1, start, exited, begun };
}

async function replayedBy(
  threads: Threads<ReplayJob> & { readonly begun: readonly Promise<unknown>[] },
  signal = new AbortController().signal,
  days = 70,
  found: unknown[] = [],
): Promise<unknown[]> {
  const there = async (): Promise<void> => void (await Promise.all(threads.begun));
  const options = {
    selection: everything,
    verifier: createVerifier(keys),
    authorizerOf,
    signal,
    onUndecodable: () => undefined,
  };
  for await (const one of replay(
    log(days, (n) => (n === waitOn ? there() : Promise.resolve())),
    { ...options, threads },
  ))
    found.push(one);
  return found;
}

describe('threads of a replay', () => {
  it('tell their errors as one thread does, and all end with it', async () => {
    const failing = standIn(`parentPort.postMessage('ready'); let times = 0; parentPort.on('message', () =>
      parentPort.postMessage([times++ === 2 ? { found: ['last'], failure: { error: new Error('It cannot be decided.') } }
        : { found: [times > 2 ? 'too late' : 'in time'], failure: null }]));`);
    const found: unknown[] = [];
    await expect(replayedBy(failing, undefined, 120, found)).rejects.toThrow(/^It cannot be decided\.$/);
    expect(found.filter((one) => typeof one === 'string')).toEqual(['in time', 'in time', 'last']);
    await Promise.all(failing.exited);
    const broken = standIn(
      `parentPort.postMessage('ready'); parentPort.on('message', () => { throw new Error('No room.'); });`,
    );
    await expect(replayedBy(broken)).rejects.toThrow(/^No room\.$/);
    const gone = standIn(`parentPort.postMessage('ready'); parentPort.on('message', () => process.exit(0));`);
    await expect(replayedBy(gone)).rejects.toThrow('A thread of the replay has ended before its work was done.');
  });

  it('end when the replay is stopped, whatever they are at', async () => {
    const stop = new AbortController();
    const busy = standIn(`parentPort.postMessage('ready'); parentPort.on('message', () => {
      parentPort.postMessage('busy'); for (;;); });`);
    const start = busy.start;
    const stopping = {
      ...busy,
      start: () => {
        const worker = start();
        worker.on('message', (message) => message === 'busy' && stop.abort());
        return worker;
      },
    };
    await replayedBy(stopping, stop.signal, 120);
    await Promise.all(busy.exited);
  });

  it('are sent no more than they can do soon: reading waits for them', async () => {
    const slow = standIn(`parentPort.postMessage('ready'); let waiting = 0; parentPort.on('message', () => {
      waiting++; setTimeout(() => { parentPort.postMessage([{ found: [waiting], failure: null }]); waiting--; }, 20); });`);
    const waited = (await replayedBy(slow, undefined, 110)).filter((one) => typeof one === 'number');
    expect(waited.length).toBeGreaterThan(5);
    expect(Math.max(...waited)).toBeLessThanOrEqual(3);
  });
});
