import { claimMemoryMs } from '@sluice/core';
import type { Documents, Verifier } from '@sluice/core';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import {
  ApprovalClaims,
  configurationsOn,
  CountingApprovals,
  inForceOf,
  OpenApprovals,
  StandingApprovals,
} from '@sluice/run';
import type { ApprovalPosition, Counts } from '@sluice/run';
import { openBus, openLedger, requireBelonging, requireLog, systemClock, verifierIfAny } from '@sluice/host';
import type { Configuration } from '@sluice/core';
import type { CommandContext } from '../commands/command-context.js';

export type LoggedApproval = { readonly requested: ApprovalRequested; readonly place: ApprovalPosition };

/** The log, and the ledger’s word on what of it counts. */
export interface ApprovalLog {
  readonly bus: Bus;
  readonly signatures: Verifier;
  readonly counts: Counts;
  readonly claims: Pick<ApprovalClaims, 'isVouched' | 'isDecided' | 'decisionOn' | 'approvalsOf'>;
  /** Null where the ledger is not there. */
  readonly documents: Documents | null;
  /** The standing approvals; null where the ledger is not there. */
  readonly standing: StandingApprovals | null;
}

/** Without a ledger all that the log has counts, as an approver must take it who has access to the log only. */
const believing: ApprovalLog['claims'] = {
  isVouched: () => Promise.resolve(true),
  isDecided: ({ notTaken }) => Promise.resolve(notTaken === null),
  decisionOn: () => Promise.resolve(undefined),
  approvalsOf: () => Promise.resolve([]),
};

export async function withApprovals(
  { environment, log }: CommandContext,
  work: (log: ApprovalLog) => Promise<number>,
): Promise<number> {
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  const signatures = verifierIfAny(environment);
  try {
    if (environment.bus === 'kafka' && environment.databaseUrl === null) {
      log.warn('DATABASE_URL is not set: approvals on the log are shown without checking that an executor wrote them');
      const counts = () => Promise.resolve(true);
      return await work({ bus, signatures, counts, claims: believing, documents: null, standing: null });
    }
    const { ledger } = await openLedger(environment, log);
    try {
      await requireBelonging({ bus, ledger }, environment);
      const claims = new ApprovalClaims({ ledger, clock: systemClock });
      const standing = new StandingApprovals({ documents: ledger.documents, past: ledger.past, clock: systemClock });
      const counting = new CountingApprovals(claims);
      const counts: Counts = (message) => counting.counts(message);
      return await work({ bus, signatures, counts, claims, documents: ledger.documents, standing });
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
}

/** Those that wait, without the steps before them, which may be long. */
export async function allOpen({ bus, counts }: ApprovalLog): Promise<readonly LoggedApproval[]> {
  const approvals = new OpenApprovals<LoggedApproval>(bus, counts, (requested, place) => ({
    requested: { ...requested, steps: [] },
    place,
  }));
  await approvals.read(Date.now() - claimMemoryMs);
  return [...approvals.open.values()].filter(({ requested }) => requested.question === null);
}

/** The configuration in force, by what the log has; undefined where none was applied. */
export async function configurationNow({
  bus,
  signatures,
}: Pick<ApprovalLog, 'bus' | 'signatures'>): Promise<Configuration | undefined> {
  const record = inForceOf(await configurationsOn(bus, signatures));
  return record?.read();
}
