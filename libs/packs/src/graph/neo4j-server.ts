import { readFile } from 'node:fs/promises';
import type { Driver, ManagedTransaction, Session } from 'neo4j-driver';
import { ToolUnavailableError } from '@sluice/core';
import { faultOf, isRefusedLogin, sentenceOf } from './neo4j-faults.js';
import type { Neo4jAddress } from './neo4j-faults.js';

/** Loaded at the first use alone. */
const loaded = async () => (await import('neo4j-driver')).default;

export type Neo4j = Awaited<ReturnType<typeof loaded>>;

export interface Neo4jServerSettings extends Neo4jAddress {
  /** Asked for each time a connection pool is made. */
  readonly password: () => string | undefined;
  /** A file with the authority that signed the server's certificate; null for those of the system. */
  readonly caFile: string | null;
  readonly connectMs: number;
  readonly queryMs: number;
  /** Connections at most. */
  readonly pool: number;
  /** Takes a sentence for the operator at each failure of the server. */
  readonly report: (sentence: string) => void;
}

/** How long what failed for a passing reason is tried again: a deadlock, a leader that moves. */
const retryMs = 3_000;

/**
 * One database of a Neo4j server over Bolt. The driver is loaded and connections are opened at the first use; after
 * `close` the next use opens it again.
 */
export class Neo4jDatabase {
  private opening: Promise<{ readonly driver: Driver; readonly neo4j: Neo4j }> | undefined;

  constructor(private readonly settings: Neo4jServerSettings) {}

  /** In a transaction that may be tried again. Throws ToolUserError or ToolUnavailableError. */
  read<T>(work: (transaction: ManagedTransaction, neo4j: Neo4j) => Promise<T>): Promise<T> {
    return this.inSession('READ', (session, neo4j, timeout) =>
      session.executeRead((transaction) => work(transaction, neo4j), { timeout }),
    );
  }

  write<T>(work: (transaction: ManagedTransaction, neo4j: Neo4j) => Promise<T>): Promise<T> {
    return this.inSession('WRITE', (session, neo4j, timeout) =>
      session.executeWrite((transaction) => work(transaction, neo4j), { timeout }),
    );
  }

  /** Statements by themselves, for what a transaction does not take. */
  async run(...statements: readonly string[]): Promise<void> {
    await this.inSession('WRITE', async (session) => {
      for (const each of statements) await session.run(each);
    });
  }

  async close(): Promise<void> {
    const { opening } = this;
    this.opening = undefined;
    await opening?.then(
      ({ driver }) => driver.close(),
      () => undefined,
    );
  }

  private async inSession<T>(
    mode: 'READ' | 'WRITE',
    work: (session: Session, neo4j: Neo4j, timeout: number) => Promise<T>,
  ): Promise<T> {
    const { database, queryMs } = this.settings;
    try {
      const { driver, neo4j } = await (this.opening ??= this.open());
      const session = driver.session({ database, defaultAccessMode: neo4j.session[mode] });
      try {
        return await work(session, neo4j, queryMs);
      } finally {
        await session.close();
      }
    } catch (error) {
      // The password may be another one by now, and a pool holds the one that it began with.
      if (isRefusedLogin(error)) await this.close();
      const fault = faultOf(error, this.settings);
      if (fault instanceof ToolUnavailableError) this.settings.report(sentenceOf(fault, this.settings));
      throw fault;
    }
  }

  private async open(): Promise<{ readonly driver: Driver; readonly neo4j: Neo4j }> {
    try {
      const { url, user, passwordEnv, caFile, connectMs, pool } = this.settings;
      const password = this.settings.password();
      if (password === undefined)
        throw new Error(`The variable ${passwordEnv} with the password of the Neo4j server at ${url} is not set.`);
      const ca = caFile === null ? null : await ownAuthority(caFile);
      const neo4j = await loaded();
      const driver = neo4j.driver(ca === null ? url : url.replace('+s:', ':'), neo4j.auth.basic(user, password), {
        userAgent: 'sluice',
        // Integers have 64 bits there; neo4j-values.ts makes numbers of those that fit.
        useBigInt: true,
        connectionTimeout: connectMs,
        connectionAcquisitionTimeout: 2 * connectMs,
        maxConnectionPoolSize: pool,
        maxTransactionRetryTime: retryMs,
        telemetryDisabled: true,
        ...ca,
      });
      return { driver, neo4j };
    } catch (error) {
      this.opening = undefined;
      throw new ToolUnavailableError('The graph cannot be used.', { cause: error });
    }
  }
}

async function ownAuthority(path: string) {
  try {
    await readFile(path);
  } catch (error) {
    throw new Error(`The file ${path} of graph.neo4j.ca_file cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const trust = 'TRUST_CUSTOM_CA_SIGNED_CERTIFICATES' as const;
  return { encrypted: 'ENCRYPTION_ON' as const, trust, trustedCertificates: [path] };
}
