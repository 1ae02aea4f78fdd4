import { Controller, Inject, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isOperator } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { ListedEntry } from '@sluice/projection';
import { cursorFor } from '../lists/list-query.js';
import { Lists } from '../lists/lists.js';
import { auditQuery } from './audit-query.js';
import { csvOf } from './csv.js';
import { Route } from '../openapi/route.js';
import { ByPrincipal } from '../rights.js';

/** What the audit has of the caller’s tenant (docs/http.md). Whether anybody changed it, `sluice audit verify` says. */
@Controller()
export class AuditController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {}

  @Route('listAudit')
  async list(
    @ByPrincipal() caller: Principal,
    @Req() http: Request,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object | string> {
    const { filter, limit, after, format } = auditQuery(query, this.runtime.clock.now());
    const { identity } = this.runtime.configurations.current().configuration;
    const seesAll = isOperator(caller, identity);
    const found = await this.lists.projection.audit(caller, filter, after, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const cursor = last === undefined ? null : cursorFor({ startedAt: last.at, requestId: last.id });
    const entries = page.map((entry) => listed(entry, seesAll || isOwn(entry, caller)));
    response.vary('accept');
    if (cursor !== null) response.set('link', `<${nextAddress(http, cursor)}>; rel="next"`);
    if (!isCsv(http, format)) return { entries, next_cursor: cursor };
    response.type('text/csv; charset=utf-8').set('content-disposition', 'attachment; filename="audit.csv"');
    return csvOf(
      columns,
      entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })),
    );
  }
}

const columns = [
  ...['at', 'kind', 'user', 'on_behalf_of', 'request_id', 'session_id', 'tool', 'outcome', 'authentic'],
  ...['config_version', 'chain', 'sequence', 'source_offset', 'hash', 'details'],
];

function isOwn({ actor, subject }: ListedEntry, caller: Principal): boolean {
  return actor === caller.actorId && subject === caller.subjectId;
}

/** What was asked and answered is in the details, which are for who asked and for operators. */
function listed(entry: ListedEntry, isWhole: boolean) {
  const { at, kind, actor, subject, requestId, sessionId, tool, outcome, authentic } = entry;
  return {
    at,
    kind,
    user: actor || null,
    on_behalf_of: subject,
    request_id: requestId || null,
    session_id: sessionId || null,
    tool: tool || null,
    outcome: outcome || null,
    authentic: authentic === null ? null : authentic === 1,
    config_version: entry.configVersion || null,
    chain: entry.chain,
    sequence: entry.sequence,
    source_offset: entry.sourceOffset,
    hash: entry.hash,
    details: isWhole ? (JSON.parse(entry.details) as object) : null,
  };
}

/** JSON unless CSV is named. */
function isCsv(http: Request, format: 'json' | 'csv' | null): boolean {
  if (format !== null) return format === 'csv';
  return /\btext\/csv\b/i.test(http.get('accept') ?? '') && http.accepts('application/json', 'text/csv') === 'text/csv';
}

function nextAddress(http: Request, cursor: string): string {
  const { pathname, searchParams } = new URL(http.originalUrl, 'http://here');
  searchParams.set('cursor', cursor);
  return `${pathname}?${searchParams}`;
}
