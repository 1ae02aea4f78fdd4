import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { readEnvironment } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { median, quantile, report } from './measure.js';

export const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [read-only] }
policy: { allowed_tools: [now] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

/** A model that answers at once: a call in every turn, and an answer after so many. */
export function promptModel(turns: number): Model {
  return {
    name: 'bench',
    turn: ({ history }) => {
      const done = history.length >= turns;
      const calls = done ? [] : [{ toolCallId: `c-${history.length}`, tool: 'core__now', arguments: '{}' }];
      return Promise.resolve({ thought: '', calls, answer: done ? 'done' : null, inputTokens: 0, outputTokens: 0 });
    },
  };
}

/** Turns of a run with a call in them. */
export const turns = 20;

/**
 * All services on SQLite in this process, with a model that makes so many calls and then answers, and a tool that
 * returns at once.
 */
export async function openLoop(turns: number, { logLevel = 'warn', configured = configuration } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const configFile = join(folder, 'sluice.yaml');
  await writeFile(configFile, configured);
  const model = promptModel(turns);
  const system = await startEmbedded({
    environment: { ...embeddedIn(folder), logLevel },
    configFile,
    models: { get: () => Promise.resolve(model) },
  });
  return {
    system,
    close: async () => {
      await system.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The whole loop on SQLite: three hops an iteration, each a transaction. */
export async function benchLoop(): Promise<void> {
  const { system, close } = await openLoop(turns);
  try {
    await runs(system, 5, 1);
    const single = await runs(system, 30, 1);
    const alone = single.each.map((ms) => ms / turns);
    const together = await runs(system, 512, 256);
    report('The whole loop on SQLite, a model that answers at once', [
      { name: 'one run at a time: an iteration, median', value: median(alone), unit: 'ms', goal: { atMost: 3 } },
      { name: 'one run at a time: an iteration, p99', value: quantile(alone, 0.99), unit: 'ms' },
      { name: 'the same, processor time', value: (1_000 * single.processor) / (30 * turns), unit: 'ms' },
      {
        name: '256 runs in flight: iterations a second',
        value: (512 * turns) / together.seconds,
        unit: '1/s',
        goal: { atLeast: 500 },
      },
      { name: 'the same, processor time', value: (1_000 * together.processor) / (512 * turns), unit: 'ms' },
    ]);
  } finally {
    await close();
  }
}

/**
 * So many runs, so many of them at a time; each with its milliseconds, and the seconds of the processor that this
 * process took for all.
 */
export async function runs(
  embedded: OpenRuntime,
  count: number,
  inFlight: number,
): Promise<{ seconds: number; processor: number; each: number[] }> {
  const { bus } = embedded.runtime;
  const prefix = `bench-${process.hrtime.bigint()}`;
  const started = new Map<string, number>();
  const each: number[] = [];
  const stop = new AbortController();
  let next = 0;
  const publish = async (): Promise<void> => {
    if (next >= count) return;
    const id = `${prefix}-${next++}`;
    started.set(id, performance.now());
    await bus.publish([
      {
        topic: topics.requests,
        key: id,
        record: { ...newRequest('Go', { requestId: id, sessionId: id }), group: ['read-only'] },
      },
    ]);
  };
  const [begin, usage] = [performance.now(), process.cpuUsage()];
  const reading = bus.read([topics.responses], { from: 'end', follow: true, signal: stop.signal });
  const responses = reading[Symbol.asyncIterator]();
  let pending = responses.next();
  for (let n = 0; n < inFlight; n++) await publish();
  for (let ended = 0; ended < count;) {
    const { value } = await pending;
    pending = responses.next();
    const since = started.get(value.record.requestId);
    if (since === undefined) continue;
    ended++;
    each.push(performance.now() - since);
    await publish();
  }
  const seconds = (performance.now() - begin) / 1_000;
  const { user, system } = process.cpuUsage(usage);
  stop.abort();
  await pending.catch(() => undefined);
  return { seconds, processor: (user + system) / 1e6, each };
}

/** What a process on the embedded log is told by its surroundings. */
export function embeddedIn(dataFolder: string) {
  return {
    bus: 'sqlite' as const,
    kafka: null,
    traces: null,
    retention: readEnvironment({}).retention,
    http: readEnvironment({}).http,
    databaseUrl: null,
    claimDatabases: [],
    dataFolder,
    workspaceFolder: null,
    sessionsKeptMs: null,
    keyFile: null,
    configFile: null,
    host: '127.0.0.1',
    port: 0,
    httpPort: 0,
    httpRequestsPerMinute: 0,
    httpOrigins: [],
    proxyPort: 0,
    mcpPort: 0,
    publishedOnLoopback: false,
    allowedHosts: [],
    mcpCallsPerMinute: 0,
    logLevel: 'warn',
    drainMs: 1_000,
    instance: 'bench',
    secret: () => undefined,
    forChild: () => ({}),
  };
}
