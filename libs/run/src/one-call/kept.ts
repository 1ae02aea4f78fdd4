import type { Principal } from '@sluice/core';
import { positionOf, recordContent, requestIds, sha256 } from '@sluice/contracts';
import type { RequestTopic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { keepOnce } from '../claims/once.js';
import { claimedName } from '../claims/run-names.js';
import type { NamedRun } from '../claims/run-names.js';
import type { Measured, Origin } from '../conditions.js';
import type { RunParts } from '../parts.js';
import type { Asking } from '../approvals/request.js';

type Keeping = Pick<RunParts, 'ledger' | 'clock'>;

/** What a call with an effect was decided by: written before the call is made, for an attempt that comes after. */
export interface KeptDecision {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly configVersion: string;
  readonly asker: Principal;
  readonly measured: Measured;
  readonly origin: Origin;
}

/** A call that waits, as the attempt left it that found so; `startedAt` is in milliseconds since the epoch. */
export interface KeptWait {
  readonly asking: Asking;
  readonly startedAt: number;
}

type CallRequest = Pick<Incoming<RequestTopic>, 'topic' | 'partition' | 'offset' | 'key' | 'record'>;

/**
 * What an executor keeps in the ledger of a call that its request makes itself: no other record says it before the
 * call has ended.
 */
export class OwnCalls {
  constructor(private readonly runtime: Keeping) {}

  /** The first decision stays: the call was made by it. */
  keepDecision(run: NamedRun, decision: KeptDecision): Promise<void> {
    return this.keep('decided', run, decision);
  }

  /** Null where no attempt came so far. */
  decision(run: NamedRun): Promise<KeptDecision | null> {
    return this.find('decided', run);
  }

  keepWait(run: NamedRun, wait: KeptWait): Promise<void> {
    return this.keep('waits', run, wait);
  }

  /** Null where the call has not been found to wait. */
  wait(run: NamedRun): Promise<KeptWait | null> {
    return this.find('waits', run);
  }

  /** Who asked by this request: its credential may be gone from its place, or count no longer. */
  async keepAsker(request: CallRequest, asker: Principal): Promise<void> {
    await this.put(askerKey(request), asker);
  }

  /**
   * Null where the call of this request has not been found to wait, and has not begun to act. `place` is where one
   * that was re-driven stood first.
   */
  async asker(request: CallRequest, place?: string): Promise<Principal | null> {
    return this.read(askerKey(request, place));
  }

  private async keep(what: string, run: NamedRun, value: KeptDecision | KeptWait): Promise<void> {
    await this.put(await this.keyOf(what, run), value);
  }

  private async put(key: string, value: KeptDecision | KeptWait | Principal): Promise<void> {
    // The effect’s own claim puts it on the disk.
    await keepOnce(key, owner, JSON.stringify(value), this.runtime, 'processLoss');
  }

  private async find<T>(what: string, run: NamedRun): Promise<T | null> {
    return this.read(await this.keyOf(what, run));
  }

  private async read<T>(key: string): Promise<T | null> {
    const { ledger, clock } = this.runtime;
    const claim = await ledger.find(key);
    if (claim === undefined || claim.value === null || claim.expiresAt <= clock.now()) return null;
    return JSON.parse(claim.value) as T;
  }

  private async keyOf(what: string, run: NamedRun): Promise<string> {
    return `call/${what}/${await claimedName(run, this.runtime)}`;
  }
}

/** Its content as well: on a topic that was made again another request has its place. A redrive writes its ids. */
function askerKey(request: CallRequest, place = positionOf(request)): string {
  const content = recordContent('AgentRequest', { ...request.record, ...requestIds(request, request.record) });
  return `call/asker/${place}/${sha256(content)}`;
}

const owner = 'executor';
