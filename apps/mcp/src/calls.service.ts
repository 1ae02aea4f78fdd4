import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { claimMemoryMs, clockSkewMs } from '@sluice/core';
import type { ConfiguredTool, JsonValue } from '@sluice/core';
import { maxPayloadBytes, payloadBytes, sha256, topics } from '@sluice/contracts';
import type { ApprovalDecided } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { Past, RunAccess, RUNTIME, RunWatch } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { cancelRun, channelHeader, requestOwner } from '@sluice/run';
import { callDigest, callRequest, requestIdOf } from '@sluice/mcp';
import { Callers } from './callers.js';
import type { Caller } from './callers.js';
import { followCall } from './follow-call.js';
import type { CallOutcome, Decision, Following } from './follow-call.js';
import { SessionStates } from './session-states.js';

/** How a client may name a call so that repeating it repeats nothing. */
export type CallKey = { readonly kind: 'key' | 'message'; readonly text: string };

export interface WantedCall {
  readonly tool: ConfiguredTool;
  readonly args: JsonValue;
  /** The session of the protocol; null where it has none, so that each call stands alone. */
  readonly session: string | null;
  readonly state: string | null;
  /** Null for a call that is made each time it comes. */
  readonly key: CallKey | null;
  readonly headers: Readonly<Record<string, string>>;
  /** What the caller decided about an approval that the call waits for; null where nothing. */
  readonly answer: (approvalId: string) => Decision | null;
}

type Named = { readonly requestId: string; readonly since: number };

export interface MadeCall {
  readonly requestId: string;
  readonly sessionId: string;
  readonly since: number;
  readonly outcome: CallOutcome;
}

/** The key was used for another call before. */
export class KeyReused extends Error {}
export class CallTooLarge extends Error {}

/** Makes calls of MCP clients as runs of their own, on the log as any other, and follows them. */
@Injectable()
export class CallsService {
  private readonly past: Past;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunWatch) private readonly watch: RunWatch,
    @Inject(SessionStates) private readonly states: SessionStates,
  ) {
    this.past = new Past(runtime);
  }

  /** Throws KeyReused, CallTooLarge, or Busy. */
  async make(
    caller: Caller,
    wanted: WantedCall,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    signal.throwIfAborted();
    const { clock } = this.runtime;
    const { tool, args, session, answer } = wanted;
    const digest = callDigest(tool.id, args);
    const waits = await this.states.waiting(session ?? '', caller.principal, digest);
    if (waits !== null) {
      const made = await this.followAgain(caller, { ...waits, session, answer }, signal, onRecord);
      if (made.outcome.kind !== 'waiting') await this.states.keepWaiting(session ?? '', caller.principal, digest, null);
      return made;
    }
    const since = clock.now() - clockSkewMs;
    const requestId = wanted.key === null ? `mcp-${randomUUID()}` : requestIdOf(session ?? '', wanted.key);
    const repeated = wanted.key === null ? null : await this.claimKey(caller, requestId, digest);
    if (repeated !== null) {
      const named = { requestId, since: repeated, session, answer };
      return this.followAgain(caller, named, signal, onRecord);
    }
    const made = await this.begin(caller, wanted, { requestId, since }, signal, onRecord);
    if (made.outcome.kind === 'waiting')
      await this.states.keepWaiting(session ?? '', caller.principal, digest, { requestId, since });
    return made;
  }

  /** A run that was begun before: what the log has of it, and what comes. */
  private async followAgain(
    caller: Caller,
    { requestId, since, session, answer }: Named & Pick<WantedCall, 'session' | 'answer'>,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    const sessionId = sessionIdOf(session, requestId);
    const followed = this.watch.follow({ requestId, sessionId }, caller.principal.tenantId);
    try {
      const whose = this.access(caller, requestId);
      const past = this.past.of({ requestId, sessionId, since }, whose, signal);
      const decide = this.deciding(caller, answer);
      const outcome = await followCall({ past, followed, whose, signal, onRecord, decide });
      await this.cancelled(caller, requestId, outcome);
      return { requestId, sessionId, since, outcome };
    } finally {
      followed.end();
    }
  }

  private async begin(
    caller: Caller,
    { tool, args, session, state, headers }: WantedCall,
    { requestId, since }: Named,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    const sessionId = sessionIdOf(session, requestId);
    const request = callRequest(caller.principal, state, tool, args, { requestId, sessionId });
    if (payloadBytes(topics.requests, request) > maxPayloadBytes) throw new CallTooLarge();
    // Before it is published, so that nothing of it is missed.
    const followed = this.watch.follow({ requestId, sessionId }, caller.principal.tenantId);
    try {
      const record = { topic: topics.requests, key: sessionId, record: request };
      await this.runtime.bus.publish([
        { ...record, headers: { ...headers, ...credential(caller), [channelHeader]: 'mcp' } },
      ]);
      const whose = this.access(caller, requestId);
      const outcome = await followCall({ past: nothing(), followed, whose, signal, onRecord, decide: never });
      await this.cancelled(caller, requestId, outcome);
      return { requestId, sessionId, since, outcome };
    } finally {
      followed.end();
    }
  }

  /** A call that its client cancelled ends: what runs of it is stopped, and what it had begun stays claimed. */
  private async cancelled({ principal }: Caller, requestId: string, outcome: CallOutcome): Promise<void> {
    if (outcome.kind === 'cut' && outcome.why === 'cancelled') await cancelRun(requestId, principal, '', this.runtime);
  }

  /** Publishes the caller’s decision, as its own: whether it counts is the executor’s to say. */
  private deciding(caller: Caller, answer: WantedCall['answer']): Following['decide'] {
    return async ({ requested, place }) => {
      const { approvalId, requestId, sessionId, argumentsHash } = requested;
      const decided = answer(approvalId);
      if (decided === null) return false;
      const { bus, clock } = this.runtime;
      const record: ApprovalDecided = {
        ...{ approvalId, requestId, sessionId, argumentsHash, ...decided },
        ...{ decidedBy: caller.principal.actorId, decidedAt: clock.now() },
        ...{ requestedPartition: place.partition, requestedOffset: place.offset },
      };
      const written = {
        topic: topics.approvals,
        key: sessionId,
        record: { requested: null, decided: record, outcome: null },
      };
      await bus.publish([{ ...written, headers: credential(caller) }]);
      return true;
    };
  }

  /** When the call under this key began, if it did; null if it is to begin now. Throws KeyReused if the key is another call’s. */
  private async claimKey({ principal }: Caller, requestId: string, digest: string): Promise<number | null> {
    const { ledger, clock } = this.runtime;
    const { tenantId: tenant } = principal;
    const key = `mcp/key/${sha256(JSON.stringify([tenant, principal.actorId, requestId]))}`;
    const now = clock.now();
    const claim = await ledger.claim({ key, owner: digest, now, ttlMs: claimMemoryMs });
    if (claim.owner !== digest) throw new KeyReused();
    // An earlier attempt that claimed the key may have ended before its request was on the log.
    const hasBegun = claim.claimedAt !== now && (await requestOwner({ requestId, tenant }, this.runtime)) !== null;
    return hasBegun ? claim.claimedAt - clockSkewMs : null;
  }

  private access({ principal }: Caller, requestId: string): RunAccess {
    const { tenantId: tenant } = principal;
    return new RunAccess(principal, {
      isSender: (request) => this.callers.isSender(principal, request),
      isTaken: async () => (await requestOwner({ requestId, tenant }, this.runtime)) !== null,
    });
  }
}

/** Calls of one session of the protocol are one session of tools too; where there is none, each call has its own. */
function sessionIdOf(session: string | null, requestId: string): string {
  return session === null ? requestId : `mcp-${session}`;
}

function credential({ authorization }: Caller): Readonly<Record<string, string>> {
  return authorization === undefined ? {} : { authorization };
}

/** A run that begins now has no past. */
async function* nothing(): AsyncGenerator<Incoming, void, undefined> {
  yield* [];
}

/** A call that begins now waits for nothing that was asked before. */
function never(): Promise<boolean> {
  return Promise.resolve(false);
}
