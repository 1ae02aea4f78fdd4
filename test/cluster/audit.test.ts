import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

interface Report {
  readonly ok: boolean;
  readonly found: number;
  readonly chains: readonly {
    readonly chain: string;
    readonly entries: number;
    readonly beyond_last_checkpoint: number;
  }[];
  readonly findings: readonly object[];
  readonly sources: { readonly compared: number; readonly waiting: number };
}

const partitions = 4;

/**
 * Instances of the audit as separate processes: they share the chains, take them over from each other, and one is
 * killed.
 */
describe('the audit on Kafka (M-113)', () => {
  let cluster: Cluster;
  let kafka: Kafka;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
  let published = 0;

  beforeAll(async () => {
    cluster = await openCluster(workflowConfiguration());
    kafka = new Kafka({ brokers: (cluster.variables['KAFKA_BROKERS'] ?? '').split(','), logLevel: logLevel.NOTHING });
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });

  /** Requests of many sessions, as upstream systems write them; the audit tells of them whatever becomes of them. */
  async function happen(records: number): Promise<void> {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const messages = Array.from({ length: records }, () => {
      const id = `request-${published++}`;
      return { key: id, value: JSON.stringify({ question: `Q ${id}`, request_id: id, session_id: id }) };
    });
    await producer.send({ topic: `${cluster.prefix}agent.requests`, messages });
    await producer.disconnect();
  }

  async function verify(...more: string[]): Promise<{ readonly code: number | null; readonly report: Report }> {
    const { code, output, errors } = await sluice(['audit', 'verify', '--json', ...more], {
      ...cluster.variables,
      SLUICE_KEYS: cluster.auditorKeys,
    }).ended;
    if (output === '') throw new Error(errors);
    return { code, report: JSON.parse(output) as Report };
  }

  /** Every request, and the one configuration. */
  async function allTold(): Promise<Report> {
    for (const end = performance.now() + 90_000; ;) {
      const { report } = await verify();
      if (report.sources.compared === published + 1 && report.sources.waiting === 0) return report;
      if (performance.now() > end) throw new Error(`Not everything was told of: ${JSON.stringify(report)}`);
    }
  }

  it('keeps every chain whole while instances come, go and are killed', async () => {
    const first = await cluster.start('audit');
    await happen(200);
    const second = await cluster.start('audit');
    await happen(200);
    await allTold();
    await happen(200);
    first.process.kill('SIGKILL');
    await happen(200);
    const third = await cluster.start('audit');
    await happen(200);
    second.process.kill('SIGTERM');
    await second.ended;
    await happen(200);
    const report = await allTold();
    expect(report.findings).toEqual([]);
    const chains = report.chains.filter(({ chain }) => chain.startsWith('agent.requests/'));
    expect(chains).toHaveLength(partitions);
    third.process.kill('SIGTERM');
    await third.ended;
  });

  it('is sealed when the last instance has stopped, and a copy on the log is found and named', async () => {
    const { code, report } = await verify();
    expect([code, report.ok]).toEqual([0, true]);
    expect(report.chains.filter((chain) => chain.beyond_last_checkpoint > 0)).toEqual([]);

    const kept = join(folder, 'anchors');
    const asAuditor = { ...cluster.variables, SLUICE_KEYS: cluster.auditorKeys };
    const printed = await sluice(['audit', 'checkpoints'], asAuditor).ended;
    expect(printed).toMatchObject({ code: 0, errors: '' });
    writeFileSync(kept, printed.output);
    expect((await verify('--anchors', kept)).code).toBe(0);

    const [line = ''] = (
      await cluster.command('tail', '--topic', 'agent.audit', '--from', 'start', '--once', '--json')
    ).split('\n');
    const { key, record } = JSON.parse(line) as { key: string; record: { sequence: number } };
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    await producer.send({ topic: `${cluster.prefix}agent.audit`, messages: [{ key, value: JSON.stringify(record) }] });
    await producer.disconnect();
    const tampered = await verify();
    expect(tampered.code).toBe(1);
    expect(tampered.report.findings).toMatchObject([
      { kind: 'inserted', chain: key, entries: { first: record.sequence, last: record.sequence } },
    ]);
  });
});
