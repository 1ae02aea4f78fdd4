import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { verifyAudit } from '@sluice/audit';
import type { SqliteBus } from '@sluice/bus';
import { createLog, openRuntime } from '@sluice/host';
import type { OpenRuntime, Service } from '@sluice/host';
import { startAudit } from '../../apps/audit/src/audit.module.js';
import { response } from '../../libs/audit/test/recorded.js';
import { environmentIn } from '../harness/with-tools.js';
import { caughtUp, entries, until } from './auditing.js';

const hour = 3_600_000;

/** The audit alone, on a log of the test’s own. */
describe('the audit on the embedded log', () => {
  let folder: string;
  let open: OpenRuntime;
  const services: Service[] = [];
  let lines = '';
  let count = 0;

  const bus = () => open.runtime.bus as SqliteBus;
  const verify = () => verifyAudit(bus(), { signatures: open.runtime.signatures });
  const metric = async (name: string) =>
    ((await open.runtime.metrics.registry.getSingleMetric(name)?.get())?.values ?? []).reduce(
      (sum, { value }) => sum + value,
      0,
    );

  async function start(pace: { entries: number; milliseconds: number }): Promise<void> {
    open = await openRuntime(environmentIn(folder), createLog('info', { write: (line) => void (lines += line) }));
    await open.runtime.configurations.start();
    services.push(await startAudit(open.runtime, pace));
  }
  async function stop(): Promise<void> {
    for (const service of services.splice(0)) await service.close();
    await open.close();
  }
  async function happen(records: number): Promise<void> {
    const some = Array.from({ length: records }, () => response(count, `answer ${count++}`));
    await bus().publish(some.map(({ topic, key, record }) => ({ topic, key, record }) as never));
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
    lines = '';
    count = 0;
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  it('goes on with a chain after restarts, sealed by count within it and at each stop beside it', async () => {
    for (let run = 0; run < 3; run++) {
      await start({ entries: 5, milliseconds: hour });
      await happen(12);
      await caughtUp(bus(), open.runtime.signatures);
      await stop();
    }
    await start({ entries: 5, milliseconds: hour });
    const report = await verify();
    expect(report.findings).toEqual([]);
    const told = await entries(bus());
    const chain = told.filter(({ sequence }) => sequence > 0);
    expect(chain.map(({ sequence }) => sequence)).toEqual(chain.map((_, index) => index + 1));
    expect(chain.filter(({ kind }) => kind === 'run_ended').map(({ sourceOffset }) => sourceOffset)).toEqual([
      ...Array(36).keys(),
    ]);
    // Five entries and their checkpoint, again and again.
    expect(chain.filter(({ kind }) => kind === 'checkpoint').map(({ sequence }) => sequence)).toEqual([
      6, 12, 18, 24, 30, 36, 42,
    ]);
    expect(told.filter(({ sequence }) => sequence === 0)).toHaveLength(3);
    expect(report.chains).toEqual([expect.objectContaining({ sequence: 43, sealed: 43, checkpoints: 10 })]);
  });

  it('seals a chain that nothing is added to any more, and says how long it was not', async () => {
    await start({ entries: 1_000, milliseconds: 400 });
    await happen(3);
    const report = await until('the seal', verify, ({ chains }) => (chains[0]?.sealed ?? 0) > 0);
    expect(report).toMatchObject({ findings: [], chains: [{ sequence: 3, sealed: 3, checkpoints: 1 }] });
    await until(
      'nothing unsealed',
      () => metric('sluice_audit_checkpoint_age_seconds'),
      (age) => age === 0,
    );
    expect([await metric('sluice_audit_checkpoints_total'), await metric('sluice_audit_chains')]).toEqual([1, 1]);
    // Sealed once: it is not done again while nothing comes.
    await happen(1);
    const later = await until(
      'the next seal',
      verify,
      ({ chains }) => chains[0]?.sealed === chains[0]?.sequence && chains[0]?.sequence !== 3,
    );
    expect(later.findings).toEqual([]);
    expect(later.chains[0]?.checkpoints).toBe(2);
  });

  it('finds its place again if the group’s was lost, tells nothing twice, and says so', async () => {
    await start({ entries: 4, milliseconds: hour });
    await happen(10);
    await caughtUp(bus(), open.runtime.signatures);
    await stop();
    const database = new DatabaseSync(join(folder, 'log.sqlite'));
    database.exec("DELETE FROM positions WHERE consumer_group = 'audit'");
    database.close();

    await start({ entries: 4, milliseconds: hour });
    await happen(2);
    const { findings, sources } = await until('all told', verify, (report) => report.sources.waiting === 0);
    expect([findings, sources.compared]).toEqual([[], 12]);
    const told = await entries(bus());
    expect(told.filter(({ kind }) => kind === 'run_ended')).toHaveLength(12);
    expect(told.filter(({ kind }) => kind === 'chain_resumed')).toMatchObject([
      { details: { sequence: 12, source_offset: 9 } },
    ]);
    expect(await metric('sluice_audit_chain_broken_total')).toBe(1);
    expect(lines).toContain('the audit had lost its place in a chain');
  });

  it('names a configuration that services refuse', async () => {
    await start({ entries: 4, milliseconds: hour });
    const forged = { version: 'c-0000000000000000', configuration: '{}', source: 'evil.yaml' };
    const record = { ...forged, compiledAt: 0, recordSignature: null, parts: [] };
    await bus().publish([{ topic: 'agent.config', key: 'config', record }]);
    const { findings } = await until('the finding', verify, ({ found }) => found > 0);
    expect(findings).toMatchObject([
      {
        ...{ kind: 'configuration_refused', chain: 'agent.config/0', entries: { first: 1, last: 1 }, sourceOffset: 0 },
        what: 'It calls itself c-0000000000000000, from evil.yaml.',
      },
    ]);
  });

  it('makes no dead letters and ends no run: it only watches', async () => {
    await start({ entries: 4, milliseconds: hour });
    await bus().appendRaw('agent.toolsets', 'session', Buffer.from('{broken'));
    await until(
      'the entry',
      () => entries(bus()),
      (told) => told.length === 1,
    );
    const others = [];
    for await (const message of bus().read(['agent.dead-letters', 'agent.responses'], { from: 'start' }))
      others.push(message);
    expect(others).toEqual([]);
  });
});
