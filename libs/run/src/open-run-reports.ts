import type { Documents } from '@sluice/core';

/** How many runs each tenant has open: a document that any filter may write, since each one watches the runs of all. */
const key = 'open-runs';

/** Tenants that a report names, those with the most runs first. */
const mostTenants = 1_000;

export interface OpenRunReport {
  /** When the filter looked, milliseconds since the epoch. */
  readonly at: number;
  /** Which filter it was. */
  readonly by: string;
  readonly tenants: ReadonlyMap<string, number>;
}

type Written = Pick<OpenRunReport, 'at' | 'by'> & { readonly tenants: Readonly<Record<string, number>> };

/**
 * Writes what a filter sees, unless another one has just done so, or it is what stands there and not older than
 * `keptMs`. Where two write at the same moment, either report is good.
 */
export async function reportOpenRuns(
  documents: Pick<Documents, 'find' | 'put'>,
  { at, by, tenants }: OpenRunReport,
  { everyMs, keptMs }: { readonly everyMs: number; readonly keptMs: number },
): Promise<void> {
  const most = [...tenants].sort(([, one], [, other]) => other - one).slice(0, mostTenants);
  const counts = Object.fromEntries(most.sort(([one], [other]) => (one < other ? -1 : 1)));
  const found = await documents.find(key);
  const before = found === undefined ? null : (JSON.parse(found.text) as Written);
  if (before !== null) {
    const age = Math.abs(at - before.at);
    if (before.by !== by && age < everyMs) return;
    if (age < keptMs && JSON.stringify(before.tenants) === JSON.stringify(counts)) return;
  }
  const text: Written = { at, by, tenants: counts };
  await documents.put(key, (found?.version ?? 0) + 1, JSON.stringify(text), null);
}

/** The last report, however old it is: runs do not end while no filter runs. Null before the first one. */
export async function readOpenRuns(documents: Pick<Documents, 'find'>): Promise<OpenRunReport | null> {
  const found = await documents.find(key);
  if (found === undefined) return null;
  const { at, by, tenants } = JSON.parse(found.text) as Written;
  return { at, by, tenants: new Map(Object.entries(tenants)) };
}
