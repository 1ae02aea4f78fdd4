import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '@sluice/core';
import { createCodec, topics } from '@sluice/contracts';
import { openArchive, selectRecords, writeArchive } from '@sluice/archive';
import type { Archive } from '@sluice/archive';
import { createAuthorizer } from '@sluice/authorization';
import { createVerifier, readKeySet, unverified } from '@sluice/identity';
import { everything, replay } from '@sluice/replay';
import type { ReplayJob, Threads } from '@sluice/replay';
import type { OpenRuntime } from '@sluice/host';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { threadsFor } from '../apps/sluice/src/replay/threads.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { embeddedIn } from './loop.js';
import { median, report } from './measure.js';

const runs = 2_000;
const turns = 8;

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [read-only] }
  later: { type: get_current_time, description: Tells another time, group: [read-only], available_in_states: [told] }
  never: { type: get_current_time, description: Tells no time, group: [other] }
policy: { allowed_tools: [now, later, never] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

const model: Model = {
  name: 'bench',
  turn: ({ history }) => {
    const done = history.length >= turns;
    const calls = done ? [] : [{ toolCallId: `c-${history.length}`, tool: 'core__now', arguments: '{}' }];
    const thought = 'I look at the clock once more, since it may have gone on meanwhile.';
    return Promise.resolve({ thought, calls, answer: done ? 'done' : null, inputTokens: 0, outputTokens: 0 });
  },
};

/** A recorded log of real runs, exported, and every decision of it made once more. */
export async function benchReplay(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const configFile = join(folder, 'sluice.yaml');
  const file = join(folder, 'log.sluice');
  await writeFile(configFile, configuration);
  try {
    const system = await startEmbedded({
      environment: embeddedIn(folder),
      configFile,
      models: { get: () => Promise.resolve(model) },
    });
    try {
      await record(system);
      await exportTo(file, system);
    } finally {
      await system.close();
    }
    const keys = readKeySet(await readFile(join(folder, 'keys.json'), 'utf8'), 'keys.json');
    const archive = await openArchive(file);
    const bytes = await bytesOfDecisions(archive);
    const opening = await times(() => openArchive(file));
    const verifier = createVerifier(keys);
    const count = await all(archive, unverified, null);
    const one = await times(() => all(archive, unverified, null));
    const verified = await times(() => all(archive, verifier, null));
    report(
      `A replay of ${count} decisions of ${(bytes / count / 1_024).toFixed(1)} KB from an export, in one thread, by processor time`,
      [
        { name: 'decisions a second', value: count / one.processor, unit: '1/s' },
        { name: 'decisions a second, every signature verified', value: count / verified.processor, unit: '1/s' },
        { name: 'opening the file and checking its SHA-256', value: 1_000 * opening.processor, unit: 'ms' },
        { name: 'size of the file to that of its records', value: archive.trailer.bytes / bytes, unit: '' },
      ],
    );
    const [load = 0] = loadavg();
    const spread = await times(() => all(archive, unverified, threadsFor({ keys: null, readsUnknown: false })));
    const spreadVerified = await times(() => all(archive, verifier, threadsFor({ keys, readsUnknown: false })));
    report(
      `The same with a thread for each of ${availableParallelism()} cores, which begin anew each time, by the clock on a machine with a load of ${load.toFixed(1)}`,
      [
        { name: 'decisions a second', value: count / spread.clock, unit: '1/s', goal: { atLeast: 20_000 } },
        { name: 'decisions a second, every signature verified', value: count / spreadVerified.clock, unit: '1/s' },
        { name: 'decisions a second of processor time', value: count / spread.processor, unit: '1/s' },
        { name: 'decisions a second in one thread, by the clock', value: count / one.clock, unit: '1/s' },
      ],
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function record({ runtime: { bus } }: OpenRuntime): Promise<void> {
  const stop = new AbortController();
  const responses = bus.read([topics.responses], { from: 'end', follow: true, signal: stop.signal });
  for (let n = 0; n < runs; n++) {
    const id = `run-${n}`;
    const asked = { ...newRequest('What time is it, and will it be later?', { requestId: id, sessionId: id }) };
    await bus.publish([{ topic: topics.requests, key: id, record: { ...asked, group: ['read-only'] } }]);
  }
  const ends = responses[Symbol.asyncIterator]();
  for (let ended = 0; ended < runs; ended++) await ends.next();
  stop.abort();
  await ends.return?.(undefined);
}

async function exportTo(file: string, { runtime: { bus } }: OpenRuntime): Promise<void> {
  const selection = { from: null, to: null, session: null, tenant: null, topics: null };
  const records = selectRecords(bus, selection, () => undefined, new AbortController().signal);
  await writeArchive(file, { selection, createdAt: Date.now(), records, undecodable: () => 0 });
}

/**
 * How much JSON the decided records would be is not the question: their Avro bytes are, and the file’s are
 * compressed.
 */
async function bytesOfDecisions(archive: Archive): Promise<number> {
  const codec = await createCodec({ register: () => Promise.resolve(1), find: () => Promise.resolve(undefined) });
  let bytes = 0;
  const decided = [topics.toolsets, topics.toolCalls, topics.steps, topics.responses] as const;
  for await (const { topic, record } of archive.read(decided, { from: 'start' }))
    bytes += codec.encode(topic, record).length;
  return bytes;
}

async function all(
  archive: Archive,
  verifier: Parameters<typeof replay>[1]['verifier'],
  threads: Threads<ReplayJob> | null,
): Promise<number> {
  let count = 0;
  for await (const { outcome } of replay(archive, {
    selection: everything,
    threads,
    verifier,
    authorizerOf: ({ authorization }) => createAuthorizer(authorization),
    signal: new AbortController().signal,
    onUndecodable: (_, reason) => {
      throw new Error(reason);
    },
  })) {
    if (outcome.kind !== 'equal') throw new Error(`A decision came out otherwise: ${JSON.stringify(outcome)}`);
    count++;
  }
  return count;
}

interface Seconds {
  readonly processor: number;
  readonly clock: number;
}

/**
 * Seconds of the middle one of five rounds after one that warms up: of the processor, where what others do meanwhile
 * counts little, and by the clock.
 */
async function times(work: () => Promise<unknown>): Promise<Seconds> {
  const rounds: Seconds[] = [];
  for (let round = 0; round <= 5; round++) {
    const start = process.cpuUsage();
    const since = performance.now();
    await work();
    const { user, system } = process.cpuUsage(start);
    if (round > 0) rounds.push({ processor: (user + system) / 1e6, clock: (performance.now() - since) / 1_000 });
  }
  return {
    processor: median(rounds.map(({ processor }) => processor)),
    clock: median(rounds.map(({ clock }) => clock)),
  };
}
