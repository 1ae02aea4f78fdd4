import { once } from 'node:events';
import { statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { overHttp, overMcp, unbounded } from './installation.js';
import type { Installation } from './installation.js';
import { configurationAt } from './kinds.js';
import { openProcesses } from '../processes.js';
import { usedBy } from './reading.js';

/** All services in one process on the embedded log: `process` commits to the log, `lists` to the lists. */
export async function embedded(outsidePort: number): Promise<Installation> {
  const processes = await openProcesses(unbounded, configurationAt(outsidePort));
  const counter = pathToFileURL(join(import.meta.dirname, '../bench/capacity/commits.mjs')).href;
  const { process: child, url, doors } = await processes.start('all', ['--import', counter]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  const mcp = await overMcp(doors.mcp);
  const file = (name: string): string => join(processes.folder, `${name}.sqlite`);
  const log = new DatabaseSync(file('log'), { readOnly: true });
  const ledger = new DatabaseSync(file('ledger'), { readOnly: true });
  const records = log.prepare(
    'SELECT name, sum(length(key) + coalesce(length(headers), 0) + length(value)) AS bytes, count(*) AS records FROM records JOIN topics ON topics.id = topic GROUP BY name',
  );
  const claims = ledger.prepare(
    "SELECT substr(key, 1, instr(key || '/', '/') - 1) AS kind, count(*) AS count FROM claims GROUP BY 1",
  );
  return {
    doors: { http: overHttp(doors.http, agent), mcp: mcp.send },
    read: async () => {
      const counted = once(child, 'message') as Promise<[Record<string, number>]>;
      child.send('count');
      const [commits] = await counted;
      const { cpu, records: handled } = await usedBy(url);
      const sizes = ['log', 'ledger', 'projection'].map((name) => [`${name}.sqlite`, sizeOf(file(name))] as const);
      return {
        at: performance.now(),
        parts: {
          process: { cpu, commits: commits['log'] ?? 0, records: handled },
          lists: { cpu: 0, commits: commits['projection'] ?? 0, records: 0 },
        },
        commits: commits['ledger'] ?? 0,
        walBytes: 0,
        claims: Object.fromEntries(claims.all().map(({ kind, count }) => [String(kind), Number(count)])),
        bytes: {
          ...Object.fromEntries(records.all().map(({ name, bytes }) => [String(name), Number(bytes)])),
          ...Object.fromEntries(sizes),
        },
      };
    },
    close: async () => {
      agent.destroy();
      await mcp.client.close();
      log.close();
      ledger.close();
      await processes.close();
    },
  };
}

/** With what is not in the file itself yet, bytes. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
