import { Agent } from 'node:http';
import pg from 'pg';
import { recordFromJson, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { createLog, openBus, readEnvironment } from '@sluice/host';
import type { Infrastructure } from '../kafka/infrastructure.js';
import { variablesOf } from '../kafka/services.js';
import { overHttp, overMcp, unbounded } from './installation.js';
import type { Installation } from './installation.js';
import { configurationAt, requestOf } from './kinds.js';
import type { Kind } from './kinds.js';
import { bytesOnBrokers } from './log-dirs.js';
import { openProcesses } from '../processes.js';
import type { Serving } from '../processes.js';
import { listenerOn } from './process-time.js';
import { usedBy } from './reading.js';
import type { Used } from './reading.js';

/** Topics of the broker’s own, which every transaction writes to. */
const brokersOwn = ['__consumer_offsets', '__transaction_state'];

export interface OnKafka extends Installation {
  /** Starts a second filter, to see what each of two reads of the whole log. */
  startSecondFilter(): Promise<{ stop(): Promise<void> }>;
  /** What the database has of a claim, with its indexes. */
  bytesOfClaim(): Promise<number>;
}

/**
 * Each service a process of its own. Two gateways: the first one writes the lists, and is the part `lists`; runs over
 * HTTP go to the second one, `gateway`.
 */
export async function onKafka(parts: Infrastructure, outsidePort: number): Promise<OnKafka> {
  const prefix = `bench-${Date.now()}-`;
  const cluster = await openProcesses({ ...unbounded, ...variablesOf(parts, prefix) }, configurationAt(outsidePort));
  const running = new Map<string, Serving>();
  for (const part of ['filter', 'agent', 'executor', 'audit', 'lists', 'gateway', 'mcp'] as const) {
    running.set(part, await cluster.start(part === 'lists' ? 'gateway' : part));
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  const mcp = await overMcp(running.get('mcp')?.doors.mcp ?? '');
  const onLog = await overLog(variablesOf(parts, prefix), cluster.folder);
  const ledger = await openLedger(parts);
  const others = { log: listenersOn(parts.brokers), ledger: listenersOn([hostOf(parts.databaseUrl)]) };

  return {
    doors: { log: onLog.send, http: overHttp(running.get('gateway')?.doors.http ?? '', agent), mcp: mcp.send },
    read: async () => {
      const measured = await Promise.all(
        [...running].map(async ([part, { url }]) => [part, await usedBy(url)] as const),
      );
      const used: Record<string, Used> = Object.fromEntries(measured);
      for (const [part, cpu] of Object.entries(others))
        if (cpu !== undefined) used[part] = { cpu: cpu(), commits: 0, records: 0 };
      const onBrokers = await bytesOnBrokers(parts.brokers);
      const bytes: Record<string, number> = {};
      for (const [name, size] of onBrokers)
        if (brokersOwn.includes(name)) bytes[name] = size;
        else if (name.startsWith(prefix)) bytes[name.slice(prefix.length)] = size;
      return { at: performance.now(), parts: used, bytes, ...(await ledger.read()) };
    },
    bytesOfClaim: ledger.bytesOfClaim,
    startSecondFilter: async () => {
      const second = await cluster.start('filter');
      running.set('filter-2', second);
      return {
        stop: async () => {
          running.delete('filter-2');
          await second.stop();
        },
      };
    },
    close: async () => {
      agent.destroy();
      await mcp.client.close();
      await onLog.close();
      await ledger.close();
      await cluster.close();
    },
  };

  async function openLedger({ databaseUrl }: Infrastructure) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ schema: string }>(
      `select schemaname as schema from pg_tables where tablename = 'sluice_claims' and schemaname like '%' || $1 || '%'`,
      [prefix],
    );
    const schema = `"${rows[0]?.schema ?? 'public'}"`;
    return {
      read: async () => {
        const all = await client.query<{ commits: string; wal: string }>(
          `select pg_snapshot_xmax(pg_current_snapshot())::text as commits, pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal`,
        );
        const claimed = await client.query<{ kind: string; count: string }>(
          `select split_part(key, '/', 1) as kind, count(*) as count from ${schema}.sluice_claims group by 1`,
        );
        return {
          commits: Number(all.rows[0]?.commits ?? 0),
          walBytes: Number(all.rows[0]?.wal ?? 0),
          claims: Object.fromEntries(claimed.rows.map(({ kind, count }) => [kind, Number(count)])),
        };
      },
      bytesOfClaim: async () => {
        const { rows: found } = await client.query<{ bytes: string }>(
          `select pg_total_relation_size('${schema}.sluice_claims') / greatest(count(*), 1) as bytes from ${schema}.sluice_claims`,
        );
        return Number(found[0]?.bytes ?? 0);
      },
      close: () => client.end(),
    };
  }
}

/** A producer and a reader of ends, as an upstream system has them. */
async function overLog(variables: Readonly<Record<string, string>>, folder: string) {
  const environment = readEnvironment({ ...variables, SLUICE_DATA: folder });
  const { bus } = await openBus(environment, createLog('silent'));
  const waiting = new Map<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  const stop = new AbortController();
  const reading = (async () => {
    for await (const { record } of bus.read([topics.responses], { from: 'end', follow: true, signal: stop.signal })) {
      const one = waiting.get(record.requestId);
      waiting.delete(record.requestId);
      if (record.error === null) one?.resolve();
      else one?.reject(new Error(`A run ended with ${record.error.code}: ${record.error.message}`));
    }
  })();
  return {
    send: async (kind: Kind, id: string): Promise<void> => {
      const ended = new Promise<void>((resolve, reject) => waiting.set(id, { resolve, reject }));
      const record = recordFromJson('AgentRequest', requestOf(kind, id)) as AgentRequest;
      await Promise.all([ended, bus.publish([{ topic: topics.requests, key: id, record }])]);
    },
    close: async () => {
      stop.abort();
      await reading.catch(() => undefined);
      await bus.close();
    },
  };
}

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '5432'}`;
}

/** Seconds of the processor of all of them; undefined where one is not on this machine. */
function listenersOn(addresses: readonly string[]): (() => number) | undefined {
  const found = addresses.map((address) => listenerOn(Number(address.slice(address.lastIndexOf(':') + 1))));
  if (found.some((one) => one === undefined)) return undefined;
  return () => found.reduce((all, one) => all + (one?.cpu() ?? 0), 0);
}
