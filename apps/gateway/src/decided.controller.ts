import { Controller, Inject, Query } from '@nestjs/common';
import { claimMemoryMs, isOperator } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import type { DecidedApproval } from '@sluice/projection';
import { ApprovalClaims } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from './caller.js';
import { approvalQuery, cursorFor } from './lists/list-query.js';
import { Lists } from './lists/lists.js';
import { mayDecide } from './open-decisions.js';
import { Route } from './openapi/route.js';
import { ByCaller } from './rights.js';

/** Who decided what on which call, for as long as the list of the audit has it (docs/approvals.md). */
@Controller()
export class DecidedController {
  private readonly claims: ApprovalClaims;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'ledger'>,
    @Inject(Lists) private readonly lists: Lists,
  ) {
    this.claims = new ApprovalClaims(runtime);
  }

  /** Those of the caller’s tenant, if the caller is an approver or an operator; to others nothing was decided. */
  @Route('listDecidedApprovals')
  async list(@ByCaller() caller: Caller, @Query() query: Readonly<Record<string, unknown>>): Promise<object> {
    const { limit, after } = approvalQuery(query);
    const { configuration } = this.runtime.configurations.current();
    const { principal } = caller;
    if (!mayDecide(caller, configuration) && !isOperator(principal, configuration.identity))
      return { decisions: [], next_cursor: null };
    const cursor = after === null ? null : { at: after.requestedAt, id: after.approvalId };
    const found = await this.lists.projection.decidedApprovals(principal, cursor, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      decisions: await this.counted(page),
      next_cursor: last === undefined ? null : cursorFor({ startedAt: last.at, requestId: last.id }),
    };
  }

  /** Those that the ledger has, and old ones, of which it knows no more. Each approval once. */
  private async counted(page: readonly DecidedApproval[]): Promise<readonly object[]> {
    const judged = await Promise.all(
      page.map(async (one) => ({ ...decidedJson(one), verified: await this.isKnown(one) })),
    );
    const found = judged.filter(({ verified }) => verified !== null);
    return found.filter(({ approval_id: id }, at) => !found.slice(at + 1).some((later) => later.approval_id === id));
  }

  /** Whether the ledger has this decision; null where another client wrote it. */
  private async isKnown({ at, outcome }: DecidedApproval): Promise<boolean | null> {
    const { approval_id: id, decision, decided_by: by } = JSON.parse(outcome) as JsonObject;
    const taken = typeof id === 'string' ? await this.claims.decisionOn(id) : null;
    // A claim is kept for its time at least, and swept somewhat later.
    if (taken === undefined) return at < this.runtime.clock.now() - claimMemoryMs ? false : null;
    if (taken === null || taken.decision !== decision) return null;
    return taken.decidedBy.toWellFormed() === by ? true : null;
  }
}

function decidedJson({ at, requestId, sessionId, configVersion, outcome, requested }: DecidedApproval) {
  const decided = JSON.parse(outcome) as JsonObject;
  const asked = requested === null ? {} : (JSON.parse(requested) as JsonObject);
  const known = (from: JsonObject, name: string) => from[name] ?? null;
  return {
    approval_id: known(decided, 'approval_id'),
    request_id: requestId,
    session_id: sessionId,
    tool: known(asked, 'tool'),
    effect: known(asked, 'effect'),
    arguments: known(asked, 'arguments'),
    arguments_hash: known(decided, 'arguments_hash'),
    requested_by: known(asked, 'actor'),
    on_behalf_of: known(asked, 'subject'),
    requested_at: timeIn(asked, 'requested_at'),
    decision: known(decided, 'decision'),
    decided_by: known(decided, 'decided_by'),
    decided_through: known(decided, 'decided_through'),
    reason: known(decided, 'reason'),
    decided_at: timeIn(decided, 'at') ?? at,
    config_version: configVersion === '' ? null : configVersion,
  };
}

/** The audit writes times as ISO 8601. */
function timeIn(from: JsonObject, name: string): number | null {
  const value = from[name];
  const time = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN;
  return Number.isNaN(time) ? null : time;
}
