import { topics } from '@sluice/contracts';
import { approvalAt, cancelOf, isAgentRunId, turnAt } from '@sluice/run';
import type { ApprovalPosition } from '@sluice/run';
import type { Runtime } from '@sluice/host';

type Reading = Pick<Runtime, 'bus' | 'ledger' | 'clock'>;

/**
 * Which of the calls that wait for an approval are of runs that are cancelled. The log says which to look at, and the
 * ledger whether they are.
 */
export class CancelledWaits {
  private constructor(
    private readonly named: ReadonlySet<string>,
    private readonly runtime: Reading,
  ) {}

  /** By the cancellations since then; one that is older than all that waits was seen before it waited. */
  static async since(time: number, runtime: Reading, signal: AbortSignal): Promise<CancelledWaits> {
    const named = new Set<string>();
    const options = { from: { time }, onUndecodable: () => undefined, signal } as const;
    for await (const { record } of runtime.bus.read([topics.cancellations], options)) named.add(record.requestId);
    return new CancelledWaits(named, runtime);
  }

  async has({ requestId, partition, offset }: ApprovalPosition & { readonly requestId: string }): Promise<boolean> {
    // A sub-agent's run is cancelled with the run that calls it, which its turn alone names.
    if (!this.named.has(requestId) && !(this.named.size > 0 && isAgentRunId(requestId))) return false;
    const requested = await approvalAt(this.runtime.bus, { partition, offset });
    const turn = requested === undefined ? undefined : await turnAt(this.runtime.bus, requested);
    return turn?.record.requestId === requestId && (await cancelOf(turn.record, this.runtime)) !== null;
  }
}
