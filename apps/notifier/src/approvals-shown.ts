import { approvalsMissing, approversAt, rulesInForce } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { ApprovalRequested } from '@sluice/contracts';
import { ApprovalClaims, approvalAt, approvalView, parkedTurn } from '@sluice/run';
import type { ClaimedDecision } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** A call that waits, or waited, as a message about it needs it. */
export interface NotifiedApproval {
  readonly requested: ApprovalRequested;
  readonly place: { readonly partition: number; readonly offset: number };
  readonly view: Awaited<ReturnType<typeof approvalView>>;
  readonly approvers: readonly string[];
  readonly stillNeeded: number;
  /** Who has approved so far, where several persons have to. */
  readonly approvedBy: readonly string[];
  readonly isEscalated: boolean;
  /** The decision that counts; null while there is none. */
  readonly decision: ClaimedDecision | null;
}

/** Reads from log and ledger what messages about approvals show: no notification repeats what is private. */
export class NotifiedApprovals {
  private readonly claims: ApprovalClaims;

  constructor(private readonly runtime: Runtime) {
    this.claims = new ApprovalClaims(runtime);
  }

  /** Null where the request is no longer on the log, or no executor’s own. */
  async of(approvalId: string): Promise<NotifiedApproval | null> {
    const { bus, clock, configurations } = this.runtime;
    const place = await this.claims.placeOf(approvalId);
    const requested = place === undefined ? undefined : await approvalAt(bus, place);
    if (place === undefined || requested?.approvalId !== approvalId) return null;
    if (!(await this.claims.isVouched(requested))) return null;
    const turn = await parkedTurn(requested, bus);
    const { policy } = configurations.current().configuration;
    const now = clock.now();
    const rules = rulesInForce(requested, policy);
    const given = requested.rules.length === 0 ? [] : await this.claims.approvalsOf(approvalId);
    return {
      ...{ requested, place },
      view: await approvalView(requested, turn?.record ?? null, await this.judgesOf(requested), () =>
        Promise.resolve(false),
      ),
      approvers: [...new Set(rules.flatMap((rule) => approversAt(rule, now)))],
      stillNeeded: requested.rules.length === 0 ? 1 : approvalsMissing(requested.rules, given),
      approvedBy: given.map(({ by, through }) => (through === undefined ? by : `${by} through ${through}`)),
      isEscalated: rules.some(({ escalatesAt }) => escalatesAt !== null && now >= escalatesAt),
      decision: (await this.claims.decisionOn(approvalId)) ?? null,
    };
  }

  private async judgesOf({ configVersion, inForceVersion }: ApprovalRequested): Promise<readonly Configuration[]> {
    const { configurations } = this.runtime;
    const versions = [...new Set([configVersion, inForceVersion])].filter((version) => version !== '');
    const found = await Promise.all(versions.map((version) => configurations.version(version).catch(() => null)));
    const judges = found.flatMap((loaded) => (loaded === null ? [] : [loaded.configuration]));
    return judges.length > 0 ? judges : [configurations.current().configuration];
  }
}
