import type { Cancellation, AccessDenial } from '@sluice/contracts';
import type { Source } from '../sources.js';
import { approvalEntry } from './approvals.js';
import { discoveryEntry } from './discovery.js';
import { configurationEntry, deadLetterEntry } from './operators.js';
import { requestEntry, responseEntry } from './runs.js';
import { stepEntries } from './steps.js';
import { chosenEntry, toolsetEntry } from './turns.js';
import { cut, time, draftEntry } from './draft-entry.js';
import type { Facts, EntryDraft } from './draft-entry.js';

/** The entries for a record, at least one. The same record under the same facts gives the same entries, always. */
export function entriesOf(source: Source, facts: Facts): readonly EntryDraft[] {
  switch (source.topic) {
    case 'agent.requests':
    case 'agent.calls':
      return [requestEntry(source)];
    case 'agent.toolsets':
      return [toolsetEntry(source.record, facts)];
    case 'agent.tool-calls':
      return [chosenEntry(source.record, facts)];
    case 'agent.steps':
      return stepEntries(source.record, facts);
    case 'agent.responses':
      return [responseEntry(source.record)];
    case 'agent.approvals':
      return [approvalEntry(source.record, source.key)];
    case 'agent.dead-letters':
      return [deadLetterEntry(source.record)];
    case 'agent.config':
      return [configurationEntry(source.record, facts)];
    case 'agent.discovery':
      return [discoveryEntry(source.record)];
    case 'agent.denials':
      return [denialEntry(source.record)];
    case 'agent.cancellations':
      return [cancellationEntry(source.record, source.key)];
  }
}

/** A caller that cancels its run, or what the filter decided on that. */
function cancellationEntry({ requestId, sessionId, reason, askedAt, outcome }: Cancellation, key: string): EntryDraft {
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

/** What the gateway refused a caller. It is no run: the id that it names is free, and may be another’s. */
function denialEntry(denial: AccessDenial): EntryDraft {
  const { sessionId, configVersion } = denial;
  return draftEntry(
    'access_denied',
    { sessionId, configVersion },
    {
      route: denial.route,
      named_request_id: denial.requestId.slice(0, 1_000),
      actor: denial.actorId,
      tenant: denial.tenantId,
      subject: denial.subjectId,
      permitted_groups: denial.permittedGroups,
      requested_groups: denial.requestedGroups,
      refused_groups: denial.refusedGroups,
      granted_groups: [],
      state: denial.state,
      code: denial.code,
      message: cut(denial.reason),
      escalation: denial.kind === 'escalation',
      denied_at: time(denial.at),
    },
  );
}
