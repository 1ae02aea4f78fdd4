import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import type { Program } from '../harness/program.js';
import { own, startTimeout } from '../infra/client.ts';
import type { Owned } from '../infra/client.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Report {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
  readonly figures: Readonly<Record<string, { readonly partitions: number; readonly heartbeat_age_seconds: number }>>;
}

const services = { broker: 'ok', registry: 'ok', database: 'ok', filter: 'ok' };
const all = { ...services, clock: 'ok', configuration: 'ok', topics: 'ok' };
const outageMs = 120_000;

describe('health of a service whose dependencies go away', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-health-'));
  let broker: Owned<'kafka'>;
  let registry: Owned<'registry'>;
  let database: Owned<'postgres'>;
  let filter: Program;
  let url: string;
  let variables: Record<string, string>;

  beforeAll(async () => {
    [broker, registry, database] = await Promise.all([own('kafka'), own('registry'), own('postgres')]);
    variables = {
      SLUICE_BUS: 'kafka',
      KAFKA_BROKERS: String(broker.address.brokers),
      SCHEMA_REGISTRY_URL: registry.address.url,
      DATABASE_URL: database.address.databaseUrl,
      SLUICE_KEYS: writeKeySet(newKeySet(0)),
      SLUICE_PARTITIONS: '2',
    };
    filter = sluice(['serve', '--role', 'filter'], variables);
    await filter.says('"serving"');
    url = /"url":"([^"]+)"/.exec(filter.said())?.[1] as string;
  }, startTimeout);
  afterAll(async () => {
    filter.process.kill('SIGTERM');
    await filter.ended;
    await Promise.all([broker.release(), registry.release(), database.release()]);
    rmSync(folder, { recursive: true });
  }, outageMs);

  const look = async (): Promise<Report & { readonly code: number }> => {
    const answer = await fetch(`${url}/health/ready`);
    return { ...((await answer.json()) as Report), code: answer.status };
  };

  /** Looks until the checks are so; liveness has to be well all the while. */
  async function sees(wanted: Readonly<Record<string, unknown>>): Promise<Report & { readonly code: number }> {
    for (const until = Date.now() + 90_000; ;) {
      const report = await look();
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      try {
        expect(report.checks).toEqual(wanted);
        return report;
      } catch (error) {
        if (Date.now() > until) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  it('is not ready before there is a configuration, and says so', async () => {
    const report = await sees({ ...all, configuration: 'No configuration is in force yet.' });
    expect([report.code, report.status]).toEqual([503, 'unavailable']);
    const file = join(folder, 'sluice.yaml');
    writeFileSync(file, workflowConfiguration());
    expect((await sluice(['config', 'apply', '--if-none', file], variables).ended).code).toBe(0);
    const ready = await sees(all);
    expect([ready.code, ready.status]).toEqual([200, 'ok']);
    // Both partitions of agent.requests, agent.steps and agent.cancellations.
    expect(ready.figures['filter']).toEqual({ partitions: 6, heartbeat_age_seconds: expect.any(Number) });
    const again = await sluice(['config', 'apply', '--if-none', join(folder, 'none.yaml')], variables).ended;
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('It stays.')]);
  });

  it.each([
    // It keeps its schemas in memory here, so it is only silent for a while.
    [
      'a silent registry',
      () => registry.pause(),
      () => registry.resume(),
      'registry',
      /^The schema registry at http.* does not answer/,
    ],
    [
      'no PostgreSQL',
      () => database.stop(),
      () => database.start(),
      'database',
      /^The ledger’s database .* refuses connections/,
    ],
  ])(
    '%s: alive, not ready for that reason alone, and ready when it is back',
    async (_, goes, comes, part, reason) => {
      await goes();
      expect((await sees({ ...all, [part]: expect.stringMatching(reason) })).code).toBe(503);
      await comes();
      expect((await sees(all)).code).toBe(200);
    },
    outageMs,
  );

  it(
    'a broker that says nothing: alive, not ready, with the age of the last heartbeat, and ready when it is back',
    async () => {
      await broker.pause();
      const report = await sees({
        ...all,
        broker: expect.stringMatching(/^The log cannot be used: Kafka at /),
        filter: expect.stringMatching(/^(The group|The consumer of) filter /),
      });
      expect(report.figures['filter']?.heartbeat_age_seconds).toBeGreaterThan(3);
      await broker.resume();
      expect((await sees(all)).figures['filter']?.partitions).toBe(6);
    },
    outageMs,
  );
});
