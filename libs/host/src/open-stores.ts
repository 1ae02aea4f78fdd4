import type { Bus, LogIdentity, TopicFinding, TopicThere } from '@sluice/bus';
import { sha256 } from '@sluice/contracts';
import { examinePostgres, openPostgresLedger } from '@sluice/ledger';
import type { Topic } from '@sluice/contracts';
import type { ExaminedDatabase, StoredLedger, TimeThere } from '@sluice/ledger';
import { dataFiles } from './data-folder.js';
import type { Environment } from './environment.js';
import { keptWarnings } from './kept-warnings.js';
import { partLog } from './log.js';
import type { Log } from './log.js';
import { systemClock } from './runtime.js';
import { openCluster } from './open-kafka.js';
import { openLedgerFile, openLogFile, trimLog } from './open-sqlite.js';

interface OpenBus {
  readonly bus: Bus & { identity(): Promise<LogIdentity> };
  /** Removes what the log holds no longer than it must, where the log does not do so by itself. */
  trim(): Promise<void>;
  /** What an operator should know of the log’s settings, as sentences. */
  warnings(): Promise<readonly string[]>;
  /** What of the topics on a broker is not as Sluice needs it, as far as is known now. */
  findings(): readonly TopicFinding[];
  /** The topics on a broker, and their settings. */
  topicsThere(): ReadonlyMap<Topic, TopicThere>;
  /** Gives what is there the retention that the environment names; returns what was otherwise, as sentences. */
  applyRetention(): Promise<readonly string[]>;
}

/**
 * The log that the environment names. Rejects with a sentence if it cannot be used; waits for a cluster that is not
 * there yet.
 */
export async function openBus(
  environment: Environment,
  log: Log,
  signal?: AbortSignal,
  waitsFor?: (what: string) => void,
): Promise<OpenBus> {
  if (environment.kafka !== null) {
    const bus = await openCluster(environment, environment.kafka, log, signal, waitsFor);
    return {
      bus,
      trim: () => Promise.resolve(),
      warnings: () => bus.warnings(),
      findings: () => bus.findings,
      topicsThere: () => bus.topicsThere,
      applyRetention: () => bus.applyRetention(),
    };
  }
  const bus = await openLogFile(environment, log);
  const trim = (): Promise<void> => trimLog(bus, environment.retention);
  return {
    bus,
    trim,
    warnings: () => Promise.resolve(keptWarnings(environment)),
    findings: () => [],
    topicsThere: () => new Map(),
    applyRetention: async () => trim().then(() => []),
  };
}

interface OpenLedger {
  readonly ledger: StoredLedger;
  /**
   * Rejects with a sentence while the ledger cannot be asked; else what time it is there, null where its clock is
   * this machine's own.
   */
  check(): Promise<TimeThere | null>;
}

/**
 * On Kafka a ledger in a file is refused: claims that the other instances do not see would let an effect happen
 * twice, and what tools keep would be kept by one of them.
 */
export function requireSharedLedger({ bus, databaseUrl }: Environment): void {
  if (bus !== 'kafka' || databaseUrl !== null) return;
  throw new Error(
    'DATABASE_URL is not set. On Kafka the ledger, and with it what tools keep, must be in a PostgreSQL that all instances share, such as postgres://user:password@localhost:5432/sluice.',
  );
}

/** Longer names are cut by PostgreSQL, and what differs behind the cut would be one. */
const longestSchema = 63;

/** Logs with different prefixes know nothing of each other, so their ledgers must not either, even in one database. */
export function schemaOf(prefix: string): string {
  if (prefix === '') return 'public';
  const schema = `sluice_${prefix}`;
  return schema.length <= longestSchema ? schema : `sluice_${sha256(prefix).slice(0, 32)}`;
}

/**
 * Where the tables are that lists are read from: in the ledger’s PostgreSQL, so that all instances share them, or a
 * file.
 */
export function projectionLocation({ databaseUrl, instance, kafka, dataFolder }: ProjectionEnvironment) {
  if (databaseUrl === null) return { file: dataFiles({ dataFolder }).projection };
  const schema = schemaOf(`lists${kafka === null || kafka.prefix === '' ? '' : `_${kafka.prefix}`}`);
  return { url: databaseUrl, schema, instance };
}

type ProjectionEnvironment = Pick<Environment, 'databaseUrl' | 'instance' | 'kafka' | 'dataFolder'>;

/** Looks at the database of ledger and lists without a change to it; null where they are files. */
export async function examineDatabase(environment: Environment): Promise<ExaminedDatabase | null> {
  const { databaseUrl: url, instance } = environment;
  if (url === null) return null;
  const lists = projectionLocation(environment);
  const schemas = [schemaOf(environment.kafka?.prefix ?? ''), ...('schema' in lists ? [lists.schema] : [])];
  return examinePostgres({ url, schemas, instance });
}

/** As `examineDatabase`, of one that holds claims beside it. */
export function examineClaimDatabase(url: string, { kafka, instance }: Environment): Promise<ExaminedDatabase> {
  return examinePostgres({ url, schemas: [schemaOf(kafka?.prefix ?? '')], instance });
}

/** The ledger that the environment names: PostgreSQL, or a file beside the embedded log. */
export async function openLedger(
  environment: Environment,
  log: Log,
  signal?: AbortSignal,
  waitsFor?: (what: string) => void,
): Promise<OpenLedger> {
  const { databaseUrl, claimDatabases, instance } = environment;
  if (databaseUrl !== null) {
    const ledger = await openPostgresLedger({
      url: databaseUrl,
      others: claimDatabases,
      schema: schemaOf(environment.kafka?.prefix ?? ''),
      instance,
      log: partLog(log, waitsFor),
      clock: systemClock,
      ...(signal === undefined ? {} : { signal }),
    });
    return { ledger, check: () => ledger.check() };
  }
  const ledger = await openLedgerFile(environment, log);
  return { ledger, check: () => ledger.check().then(() => null) };
}
