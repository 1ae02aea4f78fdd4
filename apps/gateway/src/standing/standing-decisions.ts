import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { judgeStanding, mostStanding, standingRejections } from '@sluice/core';
import type { GivenStanding, Principal, StandingApproval, StandingRejection } from '@sluice/core';
import type { StandingApproval as WrittenStanding } from '@sluice/contracts';
import { readStanding } from '@sluice/configuration';
import { StandingApprovals } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from '../caller.js';
import { whoDecides } from '../decisions.js';
import { Denials } from '../denials.js';
import { Refusal } from '../refusal.js';

const statuses: Readonly<Record<StandingRejection, number>> = {
  invalid_standing: 400,
  unknown_standing: 404,
  too_many_standing: 409,
  not_authenticated: 403,
  not_an_approver: 403,
  own_call: 403,
  already_decided: 409,
};

/** How often the ledger is looked at for what an executor took, milliseconds. */
const lookMs = 100;

/**
 * Refuses what cannot count before it is on the log, by the executor’s own rule. The executor still judges what reaches
 * the log, under the configuration that it has then.
 */
@Injectable()
export class StandingDecisions {
  readonly approvals: StandingApprovals;
  private readonly denials: Denials;

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {
    this.approvals = new StandingApprovals(runtime);
    this.denials = new Denials(runtime);
  }

  /** Whether it was taken before, as this caller wrote it. Throws Refusal where it cannot count. */
  async wasTaken(written: WrittenStanding, caller: Caller): Promise<boolean> {
    const { clock, configurations } = this.runtime;
    const { configuration } = configurations.current();
    const { decider } = whoDecides(written, caller, configuration.identity);
    const isGiven = written.action === 'give';
    const read = isGiven ? readStanding(written, configuration) : null;
    const problem = read !== null && 'problem' in read ? read.problem : undefined;
    const given = read === null || 'problem' in read ? null : read;
    const refused = judgeStanding(given, decider, clock.now(), configuration);
    // Who may give one may revoke any: that there is none to give says so.
    if (refused !== null && (isGiven || refused !== 'invalid_standing'))
      throw await this.refusal(
        refused,
        written,
        caller.principal,
        refused === 'invalid_standing' ? problem : undefined,
      );
    const all = await this.approvals.of(caller.principal.tenantId);
    const own = all.find(({ id }) => id === written.standingId);
    if (given === null) {
      if (own === undefined) throw await this.refusal('unknown_standing', written, caller.principal);
      return own.revoked !== null;
    }
    if (own !== undefined) {
      if (isSame(own, given, written, decider?.actorId)) return true;
      throw await this.refusal('already_decided', written, caller.principal);
    }
    const inForce = all.filter(({ revoked, until }) => revoked === null && until > clock.now());
    if (inForce.length >= mostStanding) throw await this.refusal('too_many_standing', written, caller.principal);
    return false;
  }

  /** Whether an executor took it within so many milliseconds, by the ledger, which alone says so. */
  async isTaken(
    { standingId, action }: WrittenStanding,
    tenant: string,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const until = performance.now() + milliseconds; ;) {
      const own = (await this.approvals.of(tenant)).find(({ id }) => id === standingId);
      if (own !== undefined && (action === 'give' || own.revoked !== null)) return true;
      if (signal.aborted || performance.now() + lookMs > until) return false;
      await delay(lookMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** An attempt that is not permitted is written to the log for the audit. */
  private async refusal(
    reason: StandingRejection,
    { standingId, action }: WrittenStanding,
    { tenantId, actorId, subjectId, groups: permittedGroups }: Principal,
    detail: string = standingRejections[reason],
  ): Promise<Refusal> {
    const { log, clock, configurations } = this.runtime;
    const about = { standing_id: standingId, action, decided_by: actorId, tenant: tenantId, reason };
    log.warn(about, 'a standing approval does not count');
    const code = 'decision_not_taken';
    const status = statuses[reason];
    if (status === 403)
      await this.denials.write({
        ...{ route: routes[action] ?? '', code, reason: detail, kind: 'approval', requestId: '', sessionId: '' },
        ...{ tenantId, actorId, subjectId, permittedGroups, requestedGroups: [], refusedGroups: [], state: '' },
        ...{ configVersion: configurations.current().configuration.version, at: clock.now() },
      });
    return new Refusal(status, code, detail, {}, { not_taken: reason });
  }
}

const routes: Readonly<Record<string, string>> = {
  give: 'POST /v1/approvals/standing',
  revoke: 'POST /v1/approvals/standing/{standing_id}/revoke',
};

/** Whether this very one was given before: a client may send it again. */
function isSame(
  own: StandingApproval,
  given: GivenStanding,
  { reason }: Pick<WrittenStanding, 'reason'>,
  givenBy: string | undefined,
): boolean {
  const parts = ({ tool, bounds, session, user, until, calls }: GivenStanding): string =>
    JSON.stringify([tool, bounds, session, user, until, calls]);
  return parts(own) === parts(given) && own.givenBy === givenBy && own.reason === reason;
}
