import { isRequest, positionOf, principalOf, tenantOf, topics } from '@sluice/contracts';
import type { RequestTopic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { localPrincipal } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { claimingRequest, requestOwner } from '@sluice/run';
import type { NamedRun } from '@sluice/run';
import type { Runtime } from '../runtime.js';

/** What a caller may see of a record of the run that it names. */
type RunVisibility = 'tell' | 'keep' | 'not_theirs';

/** What is said where a record is not the caller’s. */
export const anothersRun = 'The request_id names another caller’s run. Choose another one, or leave it out.';

/**
 * Holds a caller to its own runs, an operator to those of one tenant. An id is no secret, so it opens nothing: the
 * first record that says whose run it is decides, of a call without a model the request that has its id, and what
 * comes before it and does not say is kept back.
 */
export class RunAccess {
  private theirs = false;
  /** The approvals that were asked for in the tenant’s run. */
  private readonly asked = new Set<string>();
  /** Where requests under the run’s id stand that the caller sent. */
  private readonly sent = new Set<string>();
  /** Whether the request that has the run’s id was looked for. */
  private hasLooked = false;

  constructor(
    readonly caller: Principal,
    private readonly facts: {
      readonly requestId: string;
      /** Whether the caller sent the request, by its credential. */
      readonly isSender: (request: Incoming<RequestTopic>) => Promise<boolean>;
      /** Whether the caller may see every run of its tenant, as operators may; absent for its own alone. */
      readonly seesAll?: boolean;
    },
    private readonly runtime: Pick<Runtime, 'bus' | 'ledger' | 'clock'>,
  ) {}

  /**
   * Whether a record under the run’s id and session can be of the caller’s run: another tenant may have chosen the
   * same ones. To be asked of each record once, in the order in which they came.
   */
  async concerns(message: Incoming): Promise<boolean> {
    const tenant = tenantOf(message);
    if (tenant !== null && tenant !== this.caller.tenantId) return false;
    if (isRequest(message)) {
      const isSender = await this.facts.isSender(message);
      if (isSender) this.sent.add(positionOf(message));
      return isSender;
    }
    // The first record with the caller of a call without a model is its step.
    if (message.topic === topics.progress && !this.theirs) await this.lookForRequest();
    if (message.topic === topics.approvals) {
      const { requested, decided, outcome } = message.record;
      if (requested !== null) this.asked.add(requested.approvalId);
      return requested !== null || this.asked.has((decided ?? outcome)?.approvalId ?? '');
    }
    // The end of a request whose sender is not known. It is not that of the tenant’s own, if there is one.
    const isUnknown = message.topic === topics.responses && tenant === null;
    return !isUnknown || this.caller.tenantId === localPrincipal.tenantId || (await this.owner()) === null;
  }

  /** Whose the run is by the request that has its id. */
  private async lookForRequest(): Promise<void> {
    if (this.hasLooked) return;
    const owner = await this.owner();
    if (owner === null) return;
    const request = this.sent.has(owner) ? null : await claimingRequest(this.run, this.runtime);
    this.theirs = this.sent.has(owner) || (request !== null && (await this.facts.isSender(request)));
    this.hasLooked = true;
  }

  private get run(): NamedRun {
    return { requestId: this.facts.requestId, tenant: this.caller.tenantId };
  }

  /** Where the request stands that has the run’s id in the caller’s tenant; null if none has. */
  private owner(): Promise<string | null> {
    return requestOwner(this.run, this.runtime);
  }

  get tenantId(): string {
    return this.caller.tenantId;
  }

  /** Whether a record has said that the run is the caller’s. */
  get isTheirs(): boolean {
    return this.theirs;
  }

  of(message: Incoming): RunVisibility {
    const said = principalOf(message);
    if (said === undefined) return this.theirs ? 'tell' : 'keep';
    // The refusal of a request whose credential could not be read: it holds nothing but the refusal.
    if (said === null) return 'tell';
    const seesAll = this.facts.seesAll === true;
    this.theirs = seesAll ? said.tenantId === this.caller.tenantId : isSame(said, this.caller);
    return this.theirs ? 'tell' : 'not_theirs';
  }
}

/** Whether they are one: who may see a run is who made it. */
export function isSame(one: Principal, other: Principal): boolean {
  return one.tenantId === other.tenantId && one.actorId === other.actorId && one.subjectId === other.subjectId;
}
