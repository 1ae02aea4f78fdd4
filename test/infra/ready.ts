import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, AddressOf } from './address.ts';
import { passwordOf, securedUsers } from './settings.ts';

/**
 * Milliseconds from the start of a process to its first answer, beyond which something is wrong; a machine with much
 * else to do takes long.
 */
const patience = 180_000;

/** Resolves when the part serves its clients; rejects if `sign` aborts before, or after 180 s with the last failure. */
export async function untilReady(address: Address, sign: AbortSignal): Promise<void> {
  const deadline = Date.now() + patience;
  for (;;) {
    sign.throwIfAborted();
    try {
      return await tryOnce(address);
    } catch (error) {
      if (Date.now() > deadline) {
        const last = error instanceof Error ? error.message : String(error);
        throw new Error(`It did not serve its clients within ${patience / 1000} s (${last}).`, { cause: error });
      }
      await sleep(100);
    }
  }
}

/** How somebody who may do everything comes in at a secured broker. */
export function asAdmin({ ca }: AddressOf<'secured-kafka'>) {
  const [username] = securedUsers;
  const sasl = { mechanism: 'plain' as const, username, password: passwordOf(username) };
  return { ssl: { ca: readFileSync(ca, 'utf8') }, sasl };
}

/** The clients are loaded when first needed: most runs never start a part, and should not wait for their code. */
async function tryOnce(address: Address): Promise<void> {
  switch (address.kind) {
    case 'kafka':
    case 'secured-kafka': {
      const { Kafka, logLevel } = await import('kafkajs');
      const kafka = new Kafka({
        brokers: address.brokers,
        ...(address.kind === 'secured-kafka' ? asAdmin(address) : {}),
        connectionTimeout: 2_000,
        logLevel: logLevel.NOTHING,
        retry: { retries: 0 },
      });
      const admin = kafka.admin();
      try {
        await admin.connect();
        const { brokers } = await admin.describeCluster();
        if (brokers.length === 0) throw new Error('No broker is registered yet.');
      } finally {
        await admin.disconnect();
      }
      return;
    }
    case 'registry': {
      const response = await fetch(`${address.url}/subjects`, { signal: AbortSignal.timeout(5_000) });
      if (!response.ok) throw new Error(`The registry answers with status ${response.status}.`);
      return;
    }
    case 'prometheus': {
      const response = await fetch(`${address.url}/-/ready`, { signal: AbortSignal.timeout(5_000) });
      if (!response.ok) throw new Error(`Prometheus answers with status ${response.status}.`);
      return;
    }
    case 'neo4j': {
      const { default: neo4j } = await import('neo4j-driver');
      const { username, password, protocol, host } = new URL(address.neo4jUrl);
      const settings = { connectionTimeout: 2_000, connectionAcquisitionTimeout: 5_000, maxTransactionRetryTime: 0 };
      const driver = neo4j.driver(`${protocol}//${host}`, neo4j.auth.basic(username, password), settings);
      try {
        const session = driver.session();
        await session.run('RETURN 1');
      } finally {
        await driver.close();
      }
      return;
    }
    case 'postgres': {
      const { default: pg } = await import('pg');
      const client = new pg.Client({ connectionString: address.databaseUrl, connectionTimeoutMillis: 2_000 });
      // A server that goes away in between is reported here too; the query rejects as well, and that is the one we use.
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('select 1');
      } finally {
        await client.end();
      }
      return;
    }
  }
}
