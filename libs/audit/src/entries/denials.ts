import type { AccessDenial } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** What the gateway refused a caller. It is no run: the id that it names is free, and may be another’s. */
export function denialEntry(denial: AccessDenial): EntryDraft {
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
