import { nearest } from '@sluice/core';
import { wordsOf } from '@sluice/projection';
import type { ApprovalCursor, RunCursor, RunFilter } from '@sluice/projection';
import { Refusal } from '../refusal.js';
import { tenantParameter } from '../run-readers.js';
import { timeForms, timeOf } from '../times.js';

type Query = Readonly<Record<string, unknown>>;

/** Entries of a page, at most. */
export const mostListed = 200;

/** `next_before` of a page. */
export const latestBefore = 999_999_999_999_999;
export const beforeForm = /^\d{1,15}$/;

/** `next_cursor` of a page, from outside: what it holds is the gateway’s business. */
export const cursorForm = /^[A-Za-z0-9_-]+$/;

/** The parameters of `GET /v1/runs`, as its page and its description have them. */
export const runParameters = {
  since: `Started at or after this time: ${timeForms}.`,
  until: 'Started before this time.',
  user: 'The actor that asked, as `user:<id>`.',
  outcome: '`running`, `answer`, or the code of an error.',
  agent: 'The agent that the run’s request asks.',
  tool: 'The key of a tool that the run called.',
  group: 'A group that the run asked for.',
  state: 'The state that the run is in, or ended in.',
  session_id: 'The session of the run.',
  text: 'Words that the question has, all of them, in capitals or not; of the caller’s own runs, for operators of all.',
  parent: 'The run whose calls these answer, of agents’ runs.',
  ...tenantParameter,
  limit: `Runs a page, 1 to ${mostListed}; 50 unless given.`,
  cursor: '`next_cursor` of the page before.',
} as const;

/** Those of `GET /v1/sessions`. */
export const sessionParameters = {
  limit: `Sessions a page, 1 to ${mostListed}; 50 unless given.`,
  before: '`next_before` of the page before.',
} as const;

/** Those of `GET /v1/sessions/{session_id}/steps`. */
export const stepParameters = { limit: `So many steps, 1 to ${mostListed}; 50 unless given.` } as const;

/** Those of `GET /v1/approvals`. */
export const approvalParameters = {
  limit: `Approvals a page, 1 to ${mostListed}; 50 unless given.`,
  cursor: '`next_cursor` of the page before.',
} as const;

/** Each parameter once, and none but these. Throws Refusal(400) with what to write. */
export function parametersOf<K extends string>(
  query: Query,
  known: Readonly<Record<K, string>>,
): Partial<Record<K, string>> {
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(known, name)) {
      const near = nearest(name, Object.keys(known));
      const hint = near === undefined ? `There are ${Object.keys(known).join(', ')}.` : `Did you mean ${near}?`;
      throw invalid(`${name} is no parameter here. ${hint}`);
    }
    if (typeof value !== 'string') throw invalid(`Write ${name} once.`);
    if (value === '') throw invalid(`${name} is empty. Give it a value, or leave it out.`);
  }
  return query as Partial<Record<K, string>>;
}

/** The filter, the page’s length and where it begins. */
export function runQuery(
  query: Query,
  now: number,
): {
  readonly filter: RunFilter;
  readonly tenant: string | undefined;
  readonly limit: number;
  readonly after: RunCursor | null;
} {
  const {
    since,
    until,
    user,
    outcome,
    agent,
    tool,
    group,
    state,
    session_id: session,
    text,
    parent,
    tenant,
    limit,
    cursor,
  } = parametersOf(query, runParameters);
  const words = text === undefined ? undefined : wordsOf(text);
  if (words?.length === 0) throw invalid('text must have a word to look for.');
  const filter = given({
    user,
    outcome,
    agent,
    tool,
    group,
    state,
    session,
    parent,
    words,
    ...between(since, until, now),
  });
  return { filter, tenant, limit: limitOf(limit), after: cursorOf(cursor) };
}

/** What is given of a filter. */
export function given<T extends object>(filter: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export function between(since: string | undefined, until: string | undefined, now: number) {
  return { since: boundOf('since', since, now), until: boundOf('until', until, now) };
}

/** The page’s length and where it begins. */
export function approvalQuery(query: Query): { readonly limit: number; readonly after: ApprovalCursor | null } {
  const { limit, cursor } = parametersOf(query, approvalParameters);
  const after = cursorOf(cursor);
  return {
    limit: limitOf(limit),
    after: after === null ? null : { requestedAt: after.startedAt, approvalId: after.requestId },
  };
}

/** Opaque to callers. */
export function cursorFor({ startedAt, requestId }: RunCursor): string {
  return Buffer.from(JSON.stringify([startedAt, requestId])).toString('base64url');
}

export function cursorOf(text: string | undefined): RunCursor | null {
  if (text === undefined) return null;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(parsed) && Number.isSafeInteger(parsed[0]) && typeof parsed[1] === 'string')
      return { startedAt: parsed[0] as number, requestId: parsed[1] };
  } catch {
    // Said below.
  }
  throw invalid('cursor must be next_cursor of the page before, as it is.');
}

export function limitOf(text: string | undefined): number {
  if (text === undefined) return 50;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > mostListed) throw invalid(`limit must be a number from 1 to ${mostListed}.`);
  return limit;
}

function boundOf(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const time = timeOf(text, now);
  if (!Number.isNaN(time)) return time;
  throw invalid(`${name} must be ${timeForms}.`);
}

export function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
