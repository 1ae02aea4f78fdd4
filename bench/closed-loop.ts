import { topics } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import type { Model } from '@sluice/core';
import { newRequest } from '../apps/sluice/src/run-request.js';

/** Turns of a run before its answer. */
export const turns = 4;
/** What a run passes: filter, agent and executor in each of them, filter and agent once more for the answer. */
export const hopsOfRun = 3 * turns + 2;

export interface Load {
  /** Runs that are measured. As many as are under way at a time come before and after them. */
  readonly runs: number;
  /** Runs under way at a time: a new one begins when one has ended. */
  readonly inFlight: number;
  /** Of the question, which every record of the run carries. */
  readonly bytes: number;
}

export interface Measured {
  readonly seconds: number;
  /** From the request to its answer, milliseconds, a run each. */
  readonly latencies: readonly number[];
  /** Milliseconds that a run was at each service, each time that it was there, by when the log took its records. */
  readonly hops: Readonly<Record<Hop, readonly number[]>>;
}

export type Hop = 'filter' | 'agent' | 'executor';

/** A model that answers at once: a call in every turn, then the answer. */
export const promptModel: Model = {
  name: 'bench',
  turn: ({ history }) => {
    const done = history.length >= turns;
    const calls = done ? [] : [{ toolCallId: `c-${history.length}`, tool: 'core__now', arguments: '{}' }];
    return Promise.resolve({ thought: '', calls, answer: done ? 'done' : null, inputTokens: 0, outputTokens: 0 });
  },
};

/** Keeps so many runs in flight, and measures those that end while all of them are. */
export async function closedLoop(bus: Bus, { runs, inFlight, bytes }: Load): Promise<Measured> {
  const prefix = `bench-${process.hrtime.bigint()}-`;
  const question = 'x'.repeat(bytes);
  const started = new Map<string, number>();
  const latencies: number[] = [];
  const counted = new Set<string>();
  const stop = new AbortController();
  const options = { from: 'end', follow: true, signal: stop.signal } as const;
  const responses = bus.read([topics.responses], options)[Symbol.asyncIterator]();
  let pending = responses.next();
  const all = runs + 2 * inFlight;
  const publish = async (n: number): Promise<void> => {
    if (n >= all) return;
    const id = prefix + n;
    started.set(id, performance.now());
    const record = { ...newRequest(question, { requestId: id, sessionId: id }), group: ['work'] };
    await bus.publish([{ topic: topics.requests, key: id, record }]);
  };
  const since = Date.now() - 1_000;
  await Promise.all(Array.from({ length: inFlight }, (_, n) => publish(n)));
  let [begin, seconds] = [0, 0];
  for (let [next, ended] = [inFlight, 0]; ended < all;) {
    const { value } = await pending;
    pending = responses.next();
    const at = started.get(value.record.requestId);
    if (at === undefined) continue;
    if (value.record.error !== null) throw new Error(`A run ended with ${value.record.error.message}`);
    const now = performance.now();
    if (++ended === inFlight) begin = now;
    else if (ended === inFlight + runs) seconds = (now - begin) / 1_000;
    if (ended > inFlight && ended <= inFlight + runs) {
      latencies.push(now - at);
      counted.add(value.record.requestId);
    }
    void publish(next++);
  }
  stop.abort();
  await pending.catch(() => undefined);
  return { seconds, latencies, hops: await atEachHop(bus, counted, since) };
}

/** Who takes what is on a topic. */
const taker = {
  [topics.requests]: 'filter',
  [topics.toolsets]: 'agent',
  [topics.toolCalls]: 'executor',
  [topics.steps]: 'filter',
} as const;

/** A run is where its last record waits to be taken, so its time is the gaps between its records. */
async function atEachHop(bus: Bus, counted: ReadonlySet<string>, since: number): Promise<Measured['hops']> {
  const spent: Record<Hop, number[]> = { filter: [], agent: [], executor: [] };
  const runs = new Map<string, Incoming[]>();
  const loop = [topics.requests, topics.toolsets, topics.toolCalls, topics.steps, topics.responses] as const;
  for await (const message of bus.read(loop, { from: { time: since } }))
    if (counted.has(message.key)) runs.set(message.key, [...(runs.get(message.key) ?? []), message]);
  for (const records of runs.values()) {
    records.sort((a, b) => a.timestamp - b.timestamp || place(a) - place(b));
    for (const [n, { topic, timestamp }] of records.entries()) {
      const next = records[n + 1];
      if (next !== undefined && topic in taker)
        spent[taker[topic as keyof typeof taker]].push(next.timestamp - timestamp);
    }
  }
  return spent;
}

/** Where a record stands in its run, if the log took several within a millisecond. */
function place({ topic, record }: Incoming): number {
  const order = { [topics.toolsets]: 1, [topics.toolCalls]: 2, [topics.steps]: 3, [topics.responses]: 4 };
  const iteration = 'iteration' in record ? record.iteration : topic === topics.responses ? Infinity : 0;
  return 4 * iteration + (order[topic as keyof typeof order] ?? 0);
}
