import type { Incoming } from '@sluice/bus';
import type { RunRecords } from '../run-records.js';
import { begunIn } from '../agent-runs.js';
import type { ApprovalRequested } from '@sluice/contracts';

/** From which call on of a turn a configuration was in force: a turn that waited goes on under another one. */
export interface Stretch {
  readonly fromIndex: number;
  readonly inForceVersion: string;
  readonly at: number;
  /** When the last of these calls was judged, at the latest. */
  readonly until: number;
}

/** Which configuration was in force for which calls of the turn. */
export function stretchesOf({ record, timestamp }: Incoming<'agent.steps'>, run: RunRecords): readonly Stretch[] {
  const waits = waitsIn(run, record.iteration);
  const fromIndex = waits.at(-1)?.nextFrom ?? 0;
  const { inForceVersion, steps } = record;
  const at = steps[fromIndex]?.startedAt ?? timestamp;
  return [...waited(waits), { fromIndex, inForceVersion, at, until: timestamp }];
}

/** A call before which its turn was parked. */
interface Wait {
  readonly index: number;
  /**
   * From which call on the turn was judged again: one that waited for an approval is judged again, one that ran as an
   * agent is done.
   */
  readonly nextFrom: number;
  readonly inForceVersion: string;
  readonly at: number;
}

/** Where a turn was parked, in the order of its calls: for an approval before it was handed over. */
export function waitsIn(run: RunRecords, iteration: number): readonly Wait[] {
  const asked = requestsIn(run, iteration).map(({ index, inForceVersion, requestedAt: at }) => {
    return { index, nextFrom: index, inForceVersion, at };
  });
  const begun = begunIn(run, iteration).map(({ record }) => {
    const { index = 0, startedAt: at = 0 } = record.run.parent ?? {};
    return { index, nextFrom: index + 1, inForceVersion: record.inForceVersion, at };
  });
  return [...asked, ...begun].sort((one, other) => one.index - other.index || one.nextFrom - other.nextFrom);
}

/** Up to each call that waited. */
export function waited(waits: readonly Wait[]): readonly Stretch[] {
  return waits.map(({ inForceVersion, at }, n) => {
    return { fromIndex: waits[n - 1]?.nextFrom ?? 0, inForceVersion, at, until: at };
  });
}

/** What was asked in a turn, in the order of its calls; a repeated question counts once. */
function requestsIn({ approvals }: RunRecords, iteration: number): readonly ApprovalRequested[] {
  const byCall = new Map<string, ApprovalRequested>();
  for (const { record } of approvals)
    if (record.requested !== null && record.requested.iteration === iteration && record.requested.behind === null)
      byCall.set(record.requested.approvalId, record.requested);
  // A call that was asked about again has two of them.
  return [...byCall.values()].sort((one, other) => one.index - other.index || one.requestedAt - other.requestedAt);
}
