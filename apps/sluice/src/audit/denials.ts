import type { Bus } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import { asEntry, type SessionEntry } from './session.js';
import { ownerIn } from './owners.js';

/** Of a listing, in memory. */
const mostEntries = 20_000;
/** What the audit has of refused requests: those that became no run, and those that the filter ended. */
const kinds: ReadonlySet<string> = new Set(['access_denied', 'request_refused']);

/** Which requests were refused, in the order in which that happened; and how many beyond those are left out. */
export async function denialEntries(
  log: Pick<Bus, 'read'>,
  { tenant, user }: { readonly tenant?: string; readonly user?: string },
): Promise<{ readonly entries: readonly SessionEntry[]; readonly left: number }> {
  const found: SessionEntry[] = [];
  let left = 0;
  for await (const { record } of log.read([topics.audit], { from: 'start', onUndecodable: () => undefined })) {
    if (!kinds.has(record.kind)) continue;
    const entry = asEntry(record);
    const owner = ownerIn(entry.details);
    // Of a caller without a valid credential nothing is known, so it is no tenant’s and no user’s.
    if (tenant !== undefined && owner?.tenant !== tenant) continue;
    if (user !== undefined && ![user, `user:${user}`].includes(owner?.user ?? '')) continue;
    if (found.length < mostEntries) found.push(entry);
    else left++;
  }
  found.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  return { entries: found, left };
}
