import { faultCodes, nearest } from '@sluice/core';
import { allTopics, isTopic } from '@sluice/contracts';
import type { LetterCursor, LetterListFilter } from '@sluice/projection';
import { between, cursorOf, given, invalid, limitOf, parametersOf } from '../lists/list-query.js';
import { timeForms } from '../times.js';

/** The parameters of `GET /v1/dead-letters`. */
export const letterParameters = {
  since: `Dead-lettered at or after this time: ${timeForms}.`,
  until: 'Dead-lettered before this time.',
  topic: 'The topic that the record was on.',
  code: 'A fault code (docs/errors.md).',
  session_id: 'The session of the record.',
  service: 'The service that could not handle it.',
  limit: 'Dead letters a page, 1 to 200; 50 unless given.',
  cursor: '`next_cursor` of the page before.',
} as const;

export function letterQuery(
  query: Readonly<Record<string, unknown>>,
  now: number,
): {
  readonly filter: LetterListFilter;
  readonly limit: number;
  readonly after: LetterCursor | null;
} {
  const {
    since,
    until,
    topic,
    code,
    session_id: session,
    service,
    limit,
    cursor,
  } = parametersOf(query, letterParameters);
  if (topic !== undefined && !isTopic(topic)) throw invalid(unknown('topic', topic, allTopics));
  const codes = Object.keys(faultCodes);
  if (code !== undefined && !codes.includes(code)) throw invalid(unknown('code', code, codes));
  const after = cursorOf(cursor);
  return {
    filter: given<LetterListFilter>({ topic, code, session, service, ...between(since, until, now) }),
    limit: limitOf(limit),
    after: after === null ? null : { failedAt: after.startedAt, id: after.requestId },
  };
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `There is no such ${what}. ${near === undefined ? `There are ${known.join(', ')}.` : `Did you mean ${near}?`}`;
}
