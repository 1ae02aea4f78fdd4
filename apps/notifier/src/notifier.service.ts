import { approvalsMissing, claimMemoryMs, defaultAgent, Fault } from '@sluice/core';
import type { NotificationEvent, NotifyReceiver } from '@sluice/core';
import { isPart, isTopic, runIdsOf, sha256, tenantOf, topics } from '@sluice/contracts';
import type { ApprovalOutcome, ApprovalRequested, DeadLetter } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { Incoming, Outgoing } from '@sluice/bus';
import { agentOf, ApprovalClaims, approvalAt, endSignature, EntryTimes, isClosing, refusalAt } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import {
  approvalCounts,
  approvalEnds,
  approvalEscalates,
  approvalWaits,
  budgetReached,
  configurationRefused,
  deadLetter,
  endOfRun,
} from './events.js';
import type { DeadRecord, Happened } from './events.js';
import type { Receivers } from './receivers.js';
import { isWanted, notificationKey, notificationOf, receiverEntries, vouchKey } from './wanted.js';

/** What the notifier reads by its group. */
export type Notified = Incoming<'agent.responses' | 'agent.approvals' | 'agent.dead-letters' | 'agent.config'>;

/** All notifiers together: any of them may attest the same. */
const notifiers = 'service:notifier';
const vouched = 'processLoss';

/** Finds out of each record which subscriptions are to be sent it, and writes that down; nothing is sent here. */
export class NotifierService {
  private readonly claims: ApprovalClaims;
  private readonly times: EntryTimes;

  constructor(
    private readonly runtime: Runtime,
    private readonly receivers: Receivers,
  ) {
    this.claims = new ApprovalClaims(runtime);
    this.times = new EntryTimes(runtime, receiverEntries);
  }

  async notificationsOf(message: Notified): Promise<readonly Outgoing[]> {
    const at = trustedTimeOf(message);
    const all = await this.happened(message, at);
    return (await Promise.all(all.map((happened) => this.outgoing(happened, at)))).flat();
  }

  /** What subscriptions are to be sent of it: of those only that were there by then, milliseconds since the epoch. */
  async outgoing(happened: Happened, at: number): Promise<readonly Outgoing[]> {
    const { notify } = this.runtime.configurations.current().configuration;
    if (notify === undefined) return [];
    const wanting = await this.there(at, (receiver) => isWanted(happened, receiver));
    const records = wanting.map((receiver) => notificationOf(happened, receiver, notify));
    await Promise.all(records.map((record) => this.claim(vouchKey(record), notifiers)));
    return records.map((record) => ({ topic: topics.notifications, key: notificationKey(record), record }));
  }

  /**
   * Whether it is the first of its kind for so long, or this one once more: a process that was lost before it wrote
   * that down finds it again.
   */
  async isFirst(kind: NotificationEvent, key: string, id: string, forMs: number): Promise<boolean> {
    return (await this.claim(`notification/first/${sha256(JSON.stringify([kind, key]))}`, id, forMs)) === id;
  }

  /** The receivers that want something, of those that were there by then. */
  async there(at: number, wants: (receiver: NotifyReceiver) => boolean): Promise<readonly NotifyReceiver[]> {
    const { configuration } = this.runtime.configurations.current();
    const wanting = this.receivers.all(configuration).filter(wants);
    if (wanting.length === 0) return [];
    const since = new Map([...(await this.times.of(configuration)), ...this.receivers.storedSince()]);
    return wanting.filter(({ id }) => at >= (since.get(id) ?? Infinity));
  }

  /** What the record says that subscriptions can be notified of; empty for nothing, and for what no service wrote. */
  private async happened(message: Notified, at: number): Promise<readonly Happened[]> {
    switch (message.topic) {
      case 'agent.responses':
        if ((await endSignature(message, this.runtime.signatures)) === null) return [];
        return [await this.ofBudget(message, at), endOfRun(message.record)].filter((one) => one !== null);
      case 'agent.approvals': {
        const happened = await this.ofApproval(message);
        return happened === null ? [] : [happened];
      }
      case 'agent.dead-letters': {
        const { record, partition, offset } = message;
        // A webhook about a webhook that was not received would not be received either.
        if (record.topic === topics.notifications) return [];
        return [deadLetter(record, `${String(partition)}/${String(offset)}`, await this.deadRecord(record))];
      }
      case 'agent.config': {
        const happened = await this.ofConfiguration(message, at);
        return happened === null ? [] : [happened];
      }
    }
  }

  /** Once in its span, for each that it counts the calls of. */
  private async ofBudget({ record }: Incoming<'agent.responses'>, at: number): Promise<Happened | null> {
    const { byId } = this.runtime.configurations.current().evaluator;
    const reached = budgetReached(record, (toolId) => byId(toolId)?.key ?? toolId);
    if (reached === null) return null;
    const { key, withinMs, happened } = reached;
    // What no subscription is sent must not keep the next one from it.
    if ((await this.there(at, (receiver) => isWanted(happened, receiver))).length === 0) return null;
    return (await this.isFirst('budget.reached', key, happened.id, withinMs)) ? happened : null;
  }

  /** Reads the topic from its start, so only where a subscription wants to know. */
  private async ofConfiguration(message: Incoming<'agent.config'>, at: number): Promise<Happened | null> {
    const { record } = message;
    if (isPart(record)) return null;
    if ((await this.there(at, ({ events }) => events.includes('configuration.refused'))).length === 0) return null;
    const reason = await refusalAt(message, this.runtime.bus, this.runtime.signatures);
    if (reason === null) return null;
    const place = `${String(message.partition)}/${String(message.offset)}`;
    const isFirst = await this.isFirst('configuration.refused', `${record.version} ${reason}`, place, claimMemoryMs);
    return isFirst ? configurationRefused(record.version, reason, at) : null;
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
      if (outcome.notTaken !== null || !(await this.claims.isDecided(outcome))) return null;
      if (!isClosing(outcome)) return this.ofCounted(outcome);
      const decided = await this.claims.decisionOn(outcome.approvalId);
      const asked = await approvalAt(this.runtime.bus, decided as NonNullable<typeof decided>);
      return asked === undefined || asked.question !== null ? null : approvalEnds(outcome, asked);
    }
    if (escalated === null || !(await this.claims.isEscalated(escalated))) return null;
    const asked = await this.askedAt(escalated.approvalId);
    return asked === null ? null : approvalEscalates(escalated, asked);
  }

  /** One approval of several, as the ledger has it: the outcome’s own time and number are not attested there. */
  private async ofCounted({ approvalId, approvedBy }: ApprovalOutcome): Promise<Happened | null> {
    const asked = await this.askedAt(approvalId);
    if (asked === null) return null;
    const given = (await this.claims.approvalsOf(approvalId)).slice(0, approvedBy.length);
    const at = given.at(-1)?.at ?? this.runtime.clock.now();
    return approvalCounts({ approvedBy, at, stillNeeded: approvalsMissing(asked.rules, given) }, asked);
  }

  /** The request for an approval; null where it is no longer on the log, or no notifier has read it. */
  private async askedAt(approvalId: string): Promise<ApprovalRequested | null> {
    const place = await this.claims.placeOf(approvalId);
    return place === undefined ? null : ((await approvalAt(this.runtime.bus, place)) ?? null);
  }

  /** Whose record a dead letter holds; null where it cannot be read. */
  private async deadRecord({ topic, partition, offset, key, value }: DeadLetter): Promise<DeadRecord | null> {
    if (!isTopic(topic)) return null;
    try {
      const record = await this.runtime.bus.decode(topic, value);
      const message = { topic, partition, offset, key, record } as Parameters<typeof runIdsOf>[0];
      const { requestId, sessionId } = runIdsOf(message) ?? { requestId: '', sessionId: '' };
      return { requestId, sessionId, tenantId: tenantOf(message), agent: this.agentOfDead(message) };
    } catch (error) {
      if (error instanceof Fault && !error.retryable) return null;
      throw error;
    }
  }

  /** Whose run the record is of, as rules name agents; null for a record of no run. */
  private agentOfDead(message: Parameters<typeof runIdsOf>[0]): string | null {
    const { evaluator } = this.runtime.configurations.current();
    switch (message.topic) {
      case 'agent.requests':
        return agentOf({ request: message.record, run: { parent: null } }, evaluator) || defaultAgent;
      case 'agent.toolsets':
      case 'agent.tool-calls':
        return agentOf(message.record, evaluator) || defaultAgent;
      case 'agent.steps': {
        const { next: request, run } = message.record;
        return agentOf({ request, run }, evaluator) || defaultAgent;
      }
      default:
        return null;
    }
  }

  /** Resolves with who has the claim. */
  private async claim(key: string, owner: string, ttlMs: number = claimMemoryMs): Promise<string> {
    const now = this.runtime.clock.now();
    return (await this.runtime.ledger.claim({ key, owner, now, ttlMs, durability: vouched })).owner;
  }
}
