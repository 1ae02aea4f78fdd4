import { nearest } from '@sluice/core';
import { listedKinds } from '@sluice/projection';
import type { AuditCursor, AuditFilter } from '@sluice/projection';
import { between, cursorOf, given, invalid, limitOf, parametersOf } from '../lists/list-query.js';
import { timeForms } from '../times.js';

/** The parameters of `GET /v1/audit`, as its page and its description have them. */
export const auditParameters = {
  since: `Recorded at or after this time: ${timeForms}.`,
  until: 'Recorded before this time.',
  request_id: 'The run.',
  session_id: 'The session of the run.',
  user: 'The actor, as `user:<id>`.',
  tool: 'The key of the tool.',
  kind: 'What the entry is about, as docs/audit.md lists it.',
  outcome: 'Of a call, `ok` or an error code; of a run, `answer` or an error code; of an approval, the decision.',
  limit: 'Entries a page, 1 to 200; 50 unless given.',
  cursor: '`next_cursor` of the page before.',
  format: '`json` or `csv`; unless given, what `accept` asks for.',
} as const;

interface AuditQuery {
  readonly filter: AuditFilter;
  readonly limit: number;
  readonly after: AuditCursor | null;
  /** Null where `accept` decides. */
  readonly format: 'json' | 'csv' | null;
}

export function auditQuery(query: Readonly<Record<string, unknown>>, now: number): AuditQuery {
  const parameters = parametersOf(query, auditParameters);
  const { since, until, request_id: run, session_id: session, limit, cursor, format, kind, ...same } = parameters;
  if (format !== undefined && format !== 'json' && format !== 'csv') throw invalid('format must be json or csv.');
  if (kind !== undefined && !listedKinds.some((known) => known === kind)) throw invalid(unknownKind(kind));
  const after = cursorOf(cursor);
  return {
    filter: given<AuditFilter>({
      ...{ run, session, kind, user: same.user, tool: same.tool, outcome: same.outcome },
      ...between(since, until, now),
    }),
    limit: limitOf(limit),
    after: after === null ? null : { at: after.startedAt, id: after.requestId },
    format: format ?? null,
  };
}

function unknownKind(kind: string): string {
  const near = nearest(kind, listedKinds);
  return `There is no such kind of entry. ${near === undefined ? `There are ${listedKinds.join(', ')}.` : `Did you mean ${near}?`}`;
}
