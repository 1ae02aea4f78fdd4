import type { Documents } from '@sluice/core';

/** How the MCP servers stand, as each executor reports it: one document that they all write. */
const key = 'mcp-servers';

/** A report that is older counts no longer: its executor has gone. */
const reportKeptMs = 30_000;
/** Executors that write at the same moment come one after another. */
const attempts = 8;
/** Characters of what is kept of one report: beyond it, what tools are now is left out. */
const longestReport = 400_000;

/** A tool that its server offers otherwise than it was allowed, as it is now. */
export interface ChangedTool {
  readonly name: string;
  readonly pin: string;
  readonly description: string;
  /** As JSON text. */
  readonly inputSchema: string;
}

/** How one server stands with one executor. */
export interface ServerReport {
  readonly server: string;
  /** `idle`: nothing has asked it yet; `connecting`, `ready`, `waiting` or `closed`. */
  readonly state: string;
  /** Why it is away, as a sentence; null if it is there, or was never asked. */
  readonly error: string | null;
  /** Since when that is so, milliseconds since the epoch. */
  readonly since: number;
  readonly changed: readonly ChangedTool[];
}

type Reports = Readonly<Record<string, { readonly at: number; readonly servers: readonly ServerReport[] }>>;

/** Writes what this executor sees; null takes its report out. `now` is in milliseconds since the epoch. */
export async function reportServers(
  documents: Pick<Documents, 'find' | 'put'>,
  instance: string,
  servers: readonly ServerReport[] | null,
  now: number,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await documents.find(key);
    const others = Object.entries(current(found?.text, now)).filter(([name]) => name !== instance);
    const own = servers === null ? [] : [[instance, { at: now, servers: bounded(servers) }] as const];
    const text = JSON.stringify(Object.fromEntries([...others, ...own]));
    if (await documents.put(key, (found?.version ?? 0) + 1, text, now + 6 * reportKeptMs)) return;
  }
}

/** What each executor sees, by its name. */
export async function readServerReports(
  documents: Pick<Documents, 'find'>,
  now: number,
): Promise<ReadonlyMap<string, readonly ServerReport[]>> {
  const reports = current((await documents.find(key))?.text, now);
  return new Map(Object.entries(reports).map(([instance, { servers }]) => [instance, servers]));
}

function bounded(servers: readonly ServerReport[]): readonly ServerReport[] {
  if (JSON.stringify(servers).length <= longestReport) return servers;
  return servers.map((report) => ({ ...report, changed: [] }));
}

function current(text: string | undefined, now: number): Reports {
  const all = text === undefined ? {} : (JSON.parse(text) as Reports);
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => Math.abs(now - at) < reportKeptMs));
}
