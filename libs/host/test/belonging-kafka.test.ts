import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { KafkaBus } from '@sluice/bus';
import { createLog, openLedger, openRuntime, readEnvironment } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { infra } from '../../../test/infra/client.ts';
import { freshDatabase, freshPrefix } from '../../../test/infra/fresh.ts';
import type { FreshDatabase } from '../../../test/infra/fresh.ts';

const silent = createLog('silent');

let folder: string;
let first: FreshDatabase;
let other: FreshDatabase;
let environmentOn: (database: FreshDatabase, port?: number) => Environment;

beforeAll(async () => {
  const [{ brokers }, registry, { databaseUrl }] = await Promise.all([
    infra('kafka'),
    infra('registry'),
    infra('postgres'),
  ]);
  folder = mkdtempSync(join(tmpdir(), 'sluice-belonging-'));
  [first, other] = await Promise.all([freshDatabase(databaseUrl), freshDatabase(databaseUrl)]);
  const prefix = freshPrefix('belonging');
  environmentOn = ({ url }, port = 0) =>
    readEnvironment({
      SLUICE_BUS: 'kafka',
      KAFKA_BROKERS: Array.isArray(brokers) ? brokers.join(',') : String(brokers),
      SCHEMA_REGISTRY_URL: registry.url,
      SLUICE_PREFIX: prefix,
      SLUICE_PARTITIONS: '2',
      SLUICE_KEYS: writeKeySet(newKeySet(0)),
      SLUICE_DATA: folder,
      SLUICE_PORT: String(port),
      DATABASE_URL: url,
    });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([first.drop(), other.drop()]);
});

it('a ledger in PostgreSQL that was emptied is not ready, with the reason, until it is adopted; that of another cluster neither', async () => {
  const open = await openRuntime(environmentOn(first), silent);
  const bus = open.runtime.bus as KafkaBus;
  const before = await bus.identity();
  await bus.appendRaw('agent.toolsets', 's', Buffer.from('what a service writes'));
  expect([before.used, await bus.identity()]).toEqual([false, { id: before.id, used: true }]);
  expect(before.id).toMatch(/^kafka .+/);
  await open.close();
  await (await openRuntime(environmentOn(first), silent)).close();

  // An empty database in its place. The process waits, and says why, until an operator decides.
  const port = await freePort();
  const opening = openRuntime(environmentOn(other, port), silent, new AbortController().signal);
  const database = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    const { checks } = ((await answer?.json()) ?? { checks: {} }) as { readonly checks: Record<string, string> };
    return answer?.status === 503 ? (checks['database'] ?? '') : '';
  };
  for (const until = Date.now() + 60_000; !(await database()).includes('is empty') && Date.now() < until;)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await database()).toMatch(
    /^The ledger in the database of DATABASE_URL is empty, though services have worked on the log on KAFKA_BROKERS: .*“sluice ledger adopt”/,
  );
  const change = async (log: string): Promise<void> => {
    const { ledger } = await openLedger(environmentOn(other), silent);
    await ledger.belonging.change(log);
    await ledger.close();
  };
  await change(before.id);
  await (await opening).close();

  await change('kafka of somewhere else');
  await expect(openRuntime(environmentOn(other), silent)).rejects.toMatchObject({
    code: 'ledger_unreachable',
    message: expect.stringMatching(/^The ledger in the database of DATABASE_URL belongs to another log/),
  });
  const stopping = new AbortController();
  const refused = openRuntime(environmentOn(other), silent, stopping.signal);
  stopping.abort(new Error('asked to stop'));
  await expect(refused).rejects.toThrow();
});

/** One that nobody listens on at the moment. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
