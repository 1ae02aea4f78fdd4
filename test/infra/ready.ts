import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.ts';

/** Milliseconds from the start of a process to its first answer, beyond which something is wrong. */
const patience = 90_000;

/** Resolves when the part serves its clients; rejects if `sign` aborts before, or after 90 s with the last failure. */
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

/** The clients are loaded when first needed: most runs never start a part, and should not wait for their code. */
async function tryOnce(address: Address): Promise<void> {
  switch (address.kind) {
    case 'kafka': {
      const { Kafka, logLevel } = await import('kafkajs');
      const kafka = new Kafka({
        brokers: address.brokers,
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
