import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, tenantHeader } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import { readEnvironment } from '@sluice/host';
import { Issuer } from '../apps/sluice/src/load/issuer.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { promptModel } from './closed-loop.js';
import { startInfrastructure } from './kafka/infrastructure.js';
import { openServices } from './kafka/services.js';
import { quantile, report } from './measure.js';

const issuer = { name: 'https://issuer.test', audience: 'bench' };
const users = { many: { tenant: 'many', groups: ['work'] }, few: { tenant: 'few', groups: ['work'] } };

const identity = (folder: string): string => `
identity:
  provider: jwt
  key_file: '${join(folder, 'jwks.json')}'
  issuer: ${issuer.name}
  audience: ${issuer.audience}
`;

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [work] }
policy: { allowed_tools: [now] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

/**
 * One tenant’s runs one after the other, alone and beside a thousand of another tenant that were there first. All
 * services in one process on SQLite.
 */
export function benchFairness(): Promise<void> {
  return inFolder(async (folder, issuing) => {
    const configFile = join(folder, 'sluice.yaml');
    await writeFile(configFile, configuration + identity(folder));
    const environment = readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0', SLUICE_LOG_LEVEL: 'warn' });
    const models = { get: () => Promise.resolve(promptModel) };
    const system = await startEmbedded({ environment, configFile, models });
    try {
      await measured(system.runtime.bus, issuing, 'embedded');
    } finally {
      await system.close();
    }
  });
}

/** The same on Kafka: filter, agent and executor in one process, each with clients of its own. */
export function benchFairnessOnKafka(): Promise<void> {
  return inFolder(async (folder, issuing) => {
    const parts = await startInfrastructure();
    try {
      const services = await openServices(parts, promptModel, () => Promise.resolve(), identity(folder));
      try {
        const bus = services.runtimes[0]?.runtime.bus;
        if (bus !== undefined) await measured(bus, issuing, 'Kafka');
      } finally {
        await services.close();
      }
    } finally {
      await parts.stop();
    }
  });
}

async function inFolder(measure: (folder: string, issuing: Issuer) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const files = { jwks_file: join(folder, 'jwks.json'), key_file: join(folder, 'issuer.json') };
    await measure(folder, await Issuer.open({ ...issuer, ...files }, users));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(bus: Bus, issuing: Issuer, where: string): Promise<void> {
  const short = process.env['BENCH_SHORT'] === 'true';
  const [crowd, runs] = short ? [20, 3] : [1_000, 30];
  const ask = async (user: keyof typeof users, id: string): Promise<void> => {
    const headers = { authorization: `Bearer ${await issuing.token(user)}`, [tenantHeader]: user };
    const record = { ...newRequest('What time is it?', { requestId: id, sessionId: id }), group: ['work'] };
    await bus.publish([{ topic: topics.requests, key: id, record, headers }]);
  };
  await oneByOne(bus, 5, (id) => ask('few', id), 'warm-');
  const alone = await oneByOne(bus, runs, (id) => ask('few', id), 'alone-');
  await Promise.all(Array.from({ length: crowd }, (_, at) => ask('many', `many-${String(at)}`)));
  const beside = await oneByOne(bus, runs, (id) => ask('few', id), 'beside-');
  const [p50, p99] = [quantile(alone, 0.5), quantile(alone, 0.99)];
  report(
    `fairness, ${where}: a tenant’s runs of 5 turns one after the other, and ${String(crowd)} of another tenant there before them`,
    [
      { name: 'alone, p50', value: p50, unit: 'ms' },
      { name: 'alone, p99', value: p99, unit: 'ms' },
      { name: 'beside the other, p50', value: quantile(beside, 0.5), unit: 'ms' },
      { name: 'beside the other, p99', value: quantile(beside, 0.99), unit: 'ms', goal: { atMost: 3 * p99 } },
    ],
  );
}

/** Milliseconds from each request to its answer. */
async function oneByOne(
  bus: Bus,
  runs: number,
  ask: (id: string) => Promise<void>,
  prefix: string,
): Promise<readonly number[]> {
  const stop = new AbortController();
  const responses = bus.read([topics.responses], { from: 'end', follow: true, signal: stop.signal });
  const latencies: number[] = [];
  let began = performance.now();
  let at = 0;
  const asked = (): Promise<void> => ask(prefix + String(at));
  const first = asked();
  for await (const { record } of responses) {
    if (record.requestId !== prefix + String(at)) continue;
    if (record.error !== null) throw new Error(`A run ended with ${record.error.message}`);
    latencies.push(performance.now() - began);
    if (++at === runs) break;
    began = performance.now();
    await asked();
  }
  await first;
  stop.abort();
  return latencies;
}
