import { sha256 } from '@sluice/contracts';
import type { DiscoveryRecord } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** Which of a request’s tools a model was shown, by number; what it searched for, found and called, by name. */
export function discoveryEntry(record: DiscoveryRecord): EntryDraft {
  const { searches, shadow } = record;
  // A request to the proxy is no run, and its id is of no use as one.
  const ids = record.source === 'agent' ? record : { configVersion: record.configVersion };
  return draftEntry('tools_shown', ids, {
    source: record.source,
    ...(record.source === 'agent' ? { iteration: record.iteration } : { proxy_request_id: record.requestId }),
    tenant: record.tenantId,
    wire: record.wire,
    model: record.model.slice(0, 200),
    strategy: record.strategy,
    bypass: record.bypass,
    total_tools: record.totalTools,
    kept_tools: record.keptTools,
    deferred_tools: record.deferredTools,
    searches: searches.map(({ query, by, matched, matchedTools, failOpen }) => ({
      query: cut(query),
      query_hash: sha256(query),
      ...{ by, matched, matched_tools: matchedTools, fail_open: failOpen },
    })),
    rounds: record.rounds,
    called: record.called,
    called_tools: record.calledTools,
    called_deferred: record.calledDeferred,
    tokens_before: record.tokensBefore,
    tokens_after: record.tokensAfter,
    tokenizer: record.tokenizer,
    ...(shadow === null
      ? {}
      : { shadow: { strategy: shadow.strategy, kept_tools: shadow.keptTools, missed: shadow.missed } }),
    at: time(record.at),
  });
}
