import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sluice } from '../harness/program.js';
import type { ServiceName } from '@sluice/contracts';
import type { Program, Run } from '../harness/program.js';
import { keysFor, newKeySet, writeKeySet } from '@sluice/identity';
import { infra } from '../infra/client.ts';
import { freshDatabase, freshPrefix } from '../infra/fresh.ts';

export type Role = ServiceName;

export interface Cluster {
  readonly prefix: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The public keys, for whoever verifies. */
  readonly auditorKeys: string;
  /** Runs a command of the command line against the cluster; throws if it fails. */
  command(...args: string[]): Promise<string>;
  /**
   * Starts an instance of a role and waits until it serves; `own` are variables that it has for itself, `run` the
   * version that it is.
   */
  start(role: Role, own?: Readonly<Record<string, string>>, run?: Run): Promise<Program>;
  close(): Promise<void>;
}

const localSecret = 'what-requests-over-http-send-here';
/** What has the local secret of every cluster, for routes that need it without an identity. */
export const withSecret = { authorization: `Bearer ${localSecret}` };

/**
 * Services as separate processes on the shared Kafka, registry and PostgreSQL, under a prefix and a database of their
 * own; `more` are variables for all of them, `keys` what they sign with, `first` the version that applies the
 * configuration.
 */
export async function openCluster(
  configuration: string,
  more: Readonly<Record<string, string>> = {},
  keys = newKeySet(Date.now()),
  first: Run = sluice,
): Promise<Cluster> {
  const [{ brokers }, registry, { databaseUrl }] = await Promise.all([
    infra('kafka'),
    infra('registry'),
    infra('postgres'),
  ]);
  const database = await freshDatabase(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-'));
  const prefix = freshPrefix('cluster');
  const config = join(folder, 'sluice.yaml');
  writeFileSync(config, configuration);
  const variables = {
    SLUICE_BUS: 'kafka',
    KAFKA_BROKERS: Array.isArray(brokers) ? brokers.join(',') : String(brokers),
    SCHEMA_REGISTRY_URL: registry.url,
    DATABASE_URL: database.url,
    SLUICE_PREFIX: prefix,
    SLUICE_PARTITIONS: '4',
    SLUICE_DATA: folder,
    SLUICE_LOCAL_SECRET: localSecret,
    ...more,
  };
  const command = async (run: Run, args: readonly string[]): Promise<string> => {
    const own = args[0] === 'config' ? { SLUICE_KEYS: writeKeySet(keysFor('config', keys)) } : {};
    const { code, output, errors } = await run(args, { ...variables, ...own }).ended;
    if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${output}${errors}`);
    return output;
  };
  const running: Program[] = [];
  const cluster: Cluster = {
    prefix,
    variables,
    auditorKeys: writeKeySet(keysFor('auditor', keys)),
    command: (...args) => command(sluice, args),
    start: async (role, own = {}, run = sluice) => {
      const program = run(['serve', '--role', role], {
        ...variables,
        // As an operator would hand them out: to each what it needs.
        SLUICE_KEYS: writeKeySet(keysFor(role, keys)),
        ...own,
      });
      running.push(program);
      await program.says('"serving"');
      return program;
    },
    close: async () => {
      for (const program of running) program.process.kill('SIGCONT');
      for (const program of running) program.process.kill('SIGTERM');
      await Promise.all(running.map((program) => program.ended));
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await command(first, ['config', 'apply', config]);
  return cluster;
}
