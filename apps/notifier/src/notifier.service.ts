import { claimMemoryMs, Fault } from '@sluice/core';
import { isTopic, runIdsOf, tenantOf, topics } from '@sluice/contracts';
import type { DeadLetter } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { Incoming, Outgoing } from '@sluice/bus';
import { ApprovalClaims, approvalAt, endSignature, isClosing } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { approvalEnds, approvalEscalates, approvalWaits, deadLetter, endOfRun } from './events.js';
import type { DeadRecord, Happened } from './events.js';
import type { Receivers } from './receivers.js';
import { SubscriptionTimes } from './subscription-times.js';
import { isWanted, notificationKey, notificationOf, vouchKey } from './wanted.js';

/** What the notifier reads by its group. */
export type Notified = Incoming<'agent.responses' | 'agent.approvals' | 'agent.dead-letters'>;

/** All notifiers together: any of them may attest the same. */
const notifiers = 'service:notifier';
const vouched = 'processLoss';

/** Finds out of each record which subscriptions are to be sent it, and writes that down; nothing is sent here. */
export class NotifierService {
  private readonly claims: ApprovalClaims;
  private readonly times: SubscriptionTimes;

  constructor(
    private readonly runtime: Runtime,
    private readonly receivers: Receivers,
  ) {
    this.claims = new ApprovalClaims(runtime);
    this.times = new SubscriptionTimes(runtime);
  }

  async notificationsOf(message: Notified): Promise<readonly Outgoing[]> {
    const happened = await this.happened(message);
    if (happened === null) return [];
    const { configuration } = this.runtime.configurations.current();
    const { notify } = configuration;
    const wanting = this.receivers.all(configuration).filter((receiver) => isWanted(happened, receiver));
    if (notify === undefined || wanting.length === 0) return [];
    const since = new Map([...(await this.times.of(configuration)), ...this.receivers.storedSince()]);
    const at = trustedTimeOf(message);
    const records = wanting
      .filter(({ id }) => at >= (since.get(id) ?? Infinity))
      .map((receiver) => notificationOf(happened, receiver, notify));
    await Promise.all(records.map((record) => this.claim(vouchKey(record), notifiers)));
    return records.map((record) => ({ topic: topics.notifications, key: notificationKey(record), record }));
  }

  /** What the record says that subscriptions can be notified of; null for nothing, and for what no service wrote. */
  private async happened(message: Notified): Promise<Happened | null> {
    switch (message.topic) {
      case 'agent.responses':
        if ((await endSignature(message, this.runtime.signatures)) === null) return null;
        return endOfRun(message.record);
      case 'agent.approvals':
        return this.ofApproval(message);
      case 'agent.dead-letters': {
        const { record, partition, offset } = message;
        // A webhook about a webhook that was not received would not be received either.
        if (record.topic === topics.notifications) return null;
        return deadLetter(record, `${String(partition)}/${String(offset)}`, await this.deadRecord(record));
      }
    }
  }

  private async ofApproval({ record, partition, offset }: Incoming<'agent.approvals'>): Promise<Happened | null> {
    const { requested, outcome, escalated } = record;
    if (requested !== null) {
      // What waits for an answer of its caller is no approval.
      if (requested.question !== null || !(await this.claims.isVouched(requested))) return null;
      await this.claims.keepPlace(requested.approvalId, { partition, offset });
      return approvalWaits(requested);
    }
    if (outcome !== null) {
      if (!isClosing(outcome) || !(await this.claims.isDecided(outcome))) return null;
      const decided = await this.claims.decisionOn(outcome.approvalId);
      const asked = await approvalAt(this.runtime.bus, decided as NonNullable<typeof decided>);
      return asked === undefined || asked.question !== null ? null : approvalEnds(outcome, asked);
    }
    if (escalated === null || !(await this.claims.isEscalated(escalated))) return null;
    const place = await this.claims.placeOf(escalated.approvalId);
    if (place === undefined) return null;
    const asked = await approvalAt(this.runtime.bus, place);
    return asked === undefined ? null : approvalEscalates(escalated, asked);
  }

  /** Whose record a dead letter holds; null where it cannot be read. */
  private async deadRecord({ topic, partition, offset, key, value }: DeadLetter): Promise<DeadRecord | null> {
    if (!isTopic(topic)) return null;
    try {
      const record = await this.runtime.bus.decode(topic, value);
      const message = { topic, partition, offset, key, record } as Parameters<typeof runIdsOf>[0];
      const { requestId, sessionId } = runIdsOf(message) ?? { requestId: '', sessionId: '' };
      return { requestId, sessionId, tenantId: tenantOf(message) };
    } catch (error) {
      if (error instanceof Fault && !error.retryable) return null;
      throw error;
    }
  }

  private async claim(key: string, owner: string): Promise<void> {
    const now = this.runtime.clock.now();
    await this.runtime.ledger.claim({ key, owner, now, ttlMs: claimMemoryMs, durability: vouched });
  }
}
