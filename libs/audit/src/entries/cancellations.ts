import type { Cancellation } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** A caller that cancels its run, or what the filter decided on that. */
export function cancellationEntry(
  { requestId, sessionId, reason, askedAt, outcome }: Cancellation,
  key: string,
): EntryDraft {
  const ids = { requestId, sessionId: sessionId || key };
  if (outcome === null) return draftEntry('cancel_asked', ids, { reason: cut(reason), asked_at: time(askedAt) });
  return draftEntry('cancel_outcome', ids, {
    actor: outcome.actorId,
    tenant: outcome.tenantId,
    reason: cut(reason),
    not_taken: outcome.notTaken,
    at: time(outcome.at),
  });
}
