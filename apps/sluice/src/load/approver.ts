import { make, topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import type { Mix } from './mix.js';
import { publishPatiently } from './patient.js';
import { randomFrom } from './random.js';
import type { Tally } from './tally.js';

export type Credentials = (user: string | null) => Promise<Readonly<Record<string, string>>>;

/** Decides on the calls of this load that wait for an approval, as the mix's approver would. */
export class Approver {
  private readonly random: () => number;

  constructor(
    private readonly bus: Bus,
    private readonly settings: NonNullable<Mix['approver']>,
    private readonly credentials: Credentials,
    private readonly tally: Tally,
    seed: number,
  ) {
    this.random = randomFrom(seed);
  }

  async decide(
    requested: ApprovalRequested,
    { partition, offset }: Incoming<'agent.approvals'>,
    signal: AbortSignal,
  ): Promise<void> {
    const decision = this.random() < this.settings.refuses ? 'refuse' : 'approve';
    const { approvalId, requestId, sessionId, argumentsHash } = requested;
    const decided = make.approvalDecided({
      approvalId,
      requestId,
      sessionId,
      argumentsHash,
      decision,
      decidedBy: `user:${this.settings.user}`,
      reason: decision === 'refuse' ? 'The load generator says no now and then.' : '',
      decidedAt: Date.now(),
      requestedPartition: partition,
      requestedOffset: offset,
    });
    const headers = await this.credentials(this.settings.user);
    const record = make.approval({ decided });
    await publishPatiently(this.bus, [{ topic: topics.approvals, key: sessionId, record, headers }], signal);
    this.tally.decisions[decision]++;
  }
}
