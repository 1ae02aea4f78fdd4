import type { Documents } from '@sluice/core';

/** What the executors do, as each one reports it: one document that they all write. */
const key = 'load/calls';

/** A report that is older counts no longer: its executor has gone. */
const reportKeptMs = 10_000;
/** Executors that write at the same moment come one after another. */
const attempts = 8;

export interface CallLoad {
  /** Calls that are under way. */
  readonly inFlight: number;
  /** Seconds that 95 of 100 calls of the last minute did not exceed; 0 where there was none. */
  readonly p95: number;
}

type Reports = Readonly<Record<string, CallLoad & { readonly at: number }>>;

/** Writes what this executor does; null takes its report out. `now` is in milliseconds since the epoch. */
export async function reportLoad(
  documents: Pick<Documents, 'find' | 'put'>,
  instance: string,
  load: CallLoad | null,
  now: number,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await documents.find(key);
    const others = Object.entries(current(found?.text, now)).filter(([name]) => name !== instance);
    const own = load === null ? [] : [[instance, { ...load, at: now }] as const];
    const text = JSON.stringify(Object.fromEntries([...others, ...own]));
    if (await documents.put(key, (found?.version ?? 0) + 1, text, now + 6 * reportKeptMs)) return;
  }
}

/** The calls under way in all executors, and the slowest one’s p95; null while none reports. */
export async function readLoad(documents: Pick<Documents, 'find'>, now: number): Promise<CallLoad | null> {
  const reports = Object.values(current((await documents.find(key))?.text, now));
  if (reports.length === 0) return null;
  return {
    inFlight: reports.reduce((sum, { inFlight }) => sum + inFlight, 0),
    p95: Math.max(...reports.map(({ p95 }) => p95)),
  };
}

function current(text: string | undefined, now: number): Reports {
  const all = text === undefined ? {} : (JSON.parse(text) as Reports);
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => Math.abs(now - at) < reportKeptMs));
}
