import { isCredentialGone, recordAt, skipUndecodable } from '@sluice/bus';
import type { Incoming, Outgoing } from '@sluice/bus';
import { positionOf, topics } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { Authenticator, Principal } from '@sluice/core';
import {
  claimRequest,
  deadlineKept,
  hasEnded,
  isTurnClaimed,
  loadedFor,
  overdueCall,
  OwnCalls,
  redrivenBefore,
  requestOwner,
  returnedTurn,
  runOfRecord,
  signGrant,
  signReturned,
  startOfCall,
} from '@sluice/run';
import type { Redriven } from '@sluice/run';
import { senderOfRequest } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { OpenCall } from './open-calls.js';

/** A call whose run is open. */
interface FoundCall {
  readonly turn: ReturnType<typeof overdueCall>['turn'];
  /** The owner of the claim of its request_id. */
  readonly owner: string;
  /** Whether a service has taken it: the executor, or a filter that was lost as it ended it. */
  readonly isTaken: boolean;
  /** When the run must have ended, milliseconds since the epoch. */
  readonly deadline: number;
}

/** Finds out whose the calls are that an executor should have ended, and ends them as the filter ends a turn. */
export class CallEnds {
  private readonly own: OwnCalls;

  constructor(
    private readonly runtime: Runtime,
    private readonly authenticator: Authenticator,
  ) {
    this.own = new OwnCalls(runtime);
  }

  /**
   * The call, as its request and the ledger have it now. Null where there is nothing to end: the request has no
   * credential that holds, another one has its request_id, or its run has ended or goes on as a turn. `unknown` where
   * the credential cannot be verified for now, which anybody may write so.
   */
  async find(call: OpenCall): Promise<FoundCall | 'unknown' | null> {
    try {
      return await this.lookFor(call);
    } catch (error) {
      if (error instanceof Fault && error.code === 'identity_unreachable') return 'unknown';
      throw error;
    }
  }

  private async lookFor(call: OpenCall): Promise<FoundCall | null> {
    const { runtime } = this;
    const message = await recordAt(runtime.bus, topics.calls, call, skipUndecodable);
    if (message === undefined) return null;
    const attempt = await this.attemptOf(message);
    const asker = attempt === 'none' ? null : await this.askerOf(message, call.requestId, attempt?.owner);
    if (attempt === 'none' || asker === null) return null;
    const startedAt = startOfCall(message, runtime.clock.now());
    const { evaluator } = loadedFor(runtime.configurations.current(), message.record);
    const begun = { attempt: attempt?.deadLetter ?? null, startedAt };
    const { turn, run } = overdueCall(message, asker, begun, evaluator);
    const named = runOfRecord(turn);
    const owner = attempt?.owner ?? positionOf(message);
    const takenBy = await requestOwner(named, runtime);
    if (takenBy !== null && takenBy !== owner) return null;
    if (await hasEnded({ ...named, attempt: run.redrive }, runtime)) return null;
    if (await isTurnClaimed(topics.steps, turn, runtime)) return null;
    const putOffTo = takenBy === null ? null : await deadlineKept(named, runtime);
    return { turn, owner, isTaken: takenBy !== null, deadline: Math.max(run.deadline, putOffTo ?? 0) };
  }

  /** The turn as it comes back to the filter, which ends its run; nothing where another record has the request_id. */
  async end({ turn, owner }: FoundCall, key: string): Promise<readonly Outgoing[]> {
    const { runtime } = this;
    if ((await claimRequest(runOfRecord(turn), owner, runtime)).owner !== owner) return [];
    const record = await signReturned(returnedTurn(await signGrant(turn, runtime)), runtime);
    return [{ topic: topics.steps, key, record }];
  }

  /** `place` is where a request that was re-driven stood first. */
  private async askerOf(
    message: Incoming<'agent.calls'>,
    requestId: string,
    place: string | undefined,
  ): Promise<Principal | null> {
    const { runtime } = this;
    // The executor has let it go with what it wrote, and has kept whose it was if the call waits.
    if (isCredentialGone(message.headers)) return this.own.asker(message, place);
    const sender = await senderOfRequest(message, requestId, runtime, this.authenticator);
    // It may count no longer since an executor acted by it.
    return sender.ok ? sender.principal : this.own.asker(message, place);
  }

  /** What it was re-driven from; `none` for a copy of such a record. */
  private async attemptOf(message: Incoming): Promise<Redriven | null | 'none'> {
    try {
      return await redrivenBefore(message, this.runtime);
    } catch (error) {
      if (error instanceof Fault && !error.retryable) return 'none';
      throw error;
    }
  }
}
