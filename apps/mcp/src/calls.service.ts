import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { claimMemoryMs, clockSkewMs } from '@sluice/core';
import type { ConfiguredTool, JsonValue, Principal } from '@sluice/core';
import { make, maxPayloadBytes, payloadBytes, sha256, topics } from '@sluice/contracts';
import type { ApprovalRequested, CredentialTopic, RecordOf, RequestTopic } from '@sluice/contracts';
import { type Incoming, tenantHeader } from '@sluice/bus';
import { endIfElsewhere, isElsewhere, OpenRunLimit, Past, RunAccess, RUNTIME, RunWatch } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { CallerForms, cancelRun, channelHeader, requestOwner, claimingRequest, topicOfRequest } from '@sluice/run';
import type { CallerForm } from '@sluice/run';
import { callDigest, callRequest, formerRequestIdOf, requestIdOf } from '@sluice/mcp';
import { Callers } from './callers.js';
import type { Caller } from './callers.js';
import { followCall } from './follow-call.js';
import type { FormAnswers } from './forms.js';
import type { CallOutcome, Decision, Following } from './follow-call.js';
import { sessionOfCalls } from './session-of-calls.js';
import { SessionStates } from './session-states.js';

/** How a client may name a call so that repeating it repeats nothing. */
export type CallKey = { readonly kind: 'key' | 'message'; readonly text: string };

interface WantedCall {
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
  /** Whether its client has heard what became of the call so far. */
  readonly isResumed: boolean;
  /** Fills in forms of the tool’s server. */
  readonly forms: FormAnswers;
}

type FollowedCall = Pick<WantedCall, 'session' | 'answer' | 'forms' | 'isResumed'>;
type Named = { readonly requestId: string; readonly since: number };

/** A call that is on the log. */
export interface BegunCall extends Named {
  readonly sessionId: string;
}

export interface MadeCall {
  readonly requestId: string;
  readonly sessionId: string;
  readonly since: number;
  readonly outcome: CallOutcome;
  /** Whether its key or message named a call that was made before. */
  readonly isRepeated: boolean;
}

/** The key was used for another call before. */
export class KeyReused extends Error {}
/** The id that the key stands for is that of another run. */
export class KeyInUse extends Error {}
/** The call under the key was made, and is no longer on the log. */
export class CallGone extends Error {}
export class CallTooLarge extends Error {}

/** Makes calls of MCP clients as runs of their own, on the log as any other, and follows them. */
@Injectable()
export class CallsService {
  private readonly past: Past;
  private readonly open: OpenRunLimit;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunWatch) private readonly watch: RunWatch,
    @Inject(SessionStates) private readonly states: SessionStates,
  ) {
    this.past = new Past(runtime);
    this.open = new OpenRunLimit(runtime, watch, 'mcp');
  }

  /** Throws KeyReused, KeyTaken, CallGone, CallTooLarge, TooManyRuns, or Busy. */
  async make(
    caller: Caller,
    wanted: WantedCall,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    signal.throwIfAborted();
    const { clock } = this.runtime;
    const { tool, args, session, answer, forms, isResumed } = wanted;
    const digest = callDigest(tool.id, args);
    const waits = await this.states.waiting(session ?? '', caller.principal, digest);
    if (waits !== null) {
      const made = await this.followAgain(caller, { ...waits, session, answer, forms, isResumed }, signal, onRecord);
      if (!isPending(made.outcome)) await this.states.keepWaiting(session ?? '', caller.principal, digest, null);
      return made;
    }
    const since = clock.now() - clockSkewMs;
    const requestId = wanted.key === null ? `mcp-${randomUUID()}` : await this.idOf(caller, session ?? '', wanted.key);
    const named = { requestId, session, key: wanted.key };
    const repeated = wanted.key === null ? null : await this.claimKey(caller, named, digest);
    if (repeated !== null) {
      const made = { requestId, since: repeated, session, answer, forms, isResumed };
      return { ...(await this.followAgain(caller, made, signal, onRecord)), isRepeated: true };
    }
    const made = await this.begin(caller, wanted, { requestId, since }, signal, onRecord);
    if (isPending(made.outcome))
      await this.states.keepWaiting(session ?? '', caller.principal, digest, { requestId, since });
    return made;
  }

  /** A call that goes on as a task goes on by itself: the same call made once more is another. */
  async leave(caller: Caller, { tool, args, session }: Pick<WantedCall, 'tool' | 'args' | 'session'>): Promise<void> {
    await this.states.keepWaiting(session ?? '', caller.principal, callDigest(tool.id, args), null);
  }

  /** A run that was begun before: what the log has of it, and what comes. */
  async followAgain(
    caller: Caller,
    { requestId, since, session, answer, forms, isResumed }: Named & FollowedCall,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    const sessionId = sessionIdOf(session, requestId);
    let isPast = isResumed;
    const outcome = await this.follow(
      caller,
      { requestId, sessionId, since },
      {
        ...{ signal, decide: this.deciding(caller, answer), onLive: () => (isPast = false) },
        onRecord: (message) => {
          if (!isPast) onRecord(message);
        },
        formToShow: () => this.formToShow(caller, requestId, forms),
      },
    );
    await this.cancelled(caller, requestId, outcome);
    return { requestId, sessionId, since, outcome, isRepeated: false };
  }

  /** A call that was begun before: what the log has of it, and what comes. `onLive` is called between the two. */
  async follow(
    caller: Caller,
    call: BegunCall,
    { onLive, ...following }: Omit<Following, 'past' | 'followed' | 'whose'> & { readonly onLive: () => void },
  ): Promise<CallOutcome> {
    const followed = this.watch.follow(call, caller.principal.tenantId);
    try {
      const whose = this.access(caller, call.requestId);
      const past = behind(this.past.of(call, whose, following.signal), onLive);
      return await followCall({ ...following, past, followed, whose });
    } finally {
      followed.end();
    }
  }

  /**
   * Begins a call and follows it no further; one that was begun before under its id is begun no second time. Throws as
   * `make` does.
   */
  async start(
    caller: Caller,
    wanted: Pick<WantedCall, 'tool' | 'args' | 'session' | 'state' | 'headers'> & { readonly key: CallKey },
    requestId: string,
  ): Promise<BegunCall> {
    const { tool, args, session, key } = wanted;
    const sessionId = sessionIdOf(session, requestId);
    const since = this.runtime.clock.now() - clockSkewMs;
    const repeated = await this.claimKey(caller, { requestId, session, key }, callDigest(tool.id, args));
    if (repeated === null) await this.publish(caller, wanted, this.requestOf(caller, wanted, { requestId, sessionId }));
    return { requestId, sessionId, since: repeated ?? since };
  }

  private async begin(
    caller: Caller,
    wanted: WantedCall,
    { requestId, since }: Named,
    signal: AbortSignal,
    onRecord: (message: Incoming) => void,
  ): Promise<MadeCall> {
    const { session, key, forms } = wanted;
    const sessionId = sessionIdOf(session, requestId);
    const request = this.requestOf(caller, wanted, { requestId, sessionId });
    // Before it is published, so that nothing of it is missed.
    const followed = this.watch.follow({ requestId, sessionId }, caller.principal.tenantId);
    try {
      await this.publish(caller, wanted, request);
      const whose = this.access(caller, requestId);
      // An id that was made here belongs to no other run.
      if (key !== null) void endIfElsewhere(this.place(caller, { requestId, session }), followed, this.runtime);
      const outcome = await followCall({
        ...{ past: null, followed, whose, signal, onRecord, decide: never },
        formToShow: () => this.formToShow(caller, requestId, forms),
      });
      await this.cancelled(caller, requestId, outcome);
      return { requestId, sessionId, since, outcome, isRepeated: false };
    } finally {
      followed.end();
    }
  }

  private requestOf(
    { principal }: Caller,
    { tool, args, state }: Pick<WantedCall, 'tool' | 'args' | 'state'>,
    ids: Pick<BegunCall, 'requestId' | 'sessionId'>,
  ): ReturnType<typeof callRequest> {
    const request = callRequest(principal, state, tool, args, ids);
    if (payloadBytes(topics.requests, request) > maxPayloadBytes) throw new CallTooLarge();
    return request;
  }

  private async publish(
    caller: Caller,
    { headers }: Pick<WantedCall, 'headers'>,
    request: ReturnType<typeof callRequest>,
  ): Promise<void> {
    const { tenantId: tenant } = caller.principal;
    const { requestId, sessionId } = request;
    const takeBack = await this.open.admit({ requestId, sessionId, tenant, isCall: true });
    try {
      const written = { topic: topicOfRequest(request, this.runtime), key: sessionId, record: request };
      const own = await this.credential(caller, written);
      const turn = { [channelHeader]: 'mcp', [tenantHeader]: tenant };
      await this.runtime.bus.publish([{ ...written, headers: { ...headers, ...own, ...turn } }]);
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /** A call that its client cancelled ends: what runs of it is stopped, and what it had begun stays claimed. */
  private async cancelled({ principal }: Caller, requestId: string, outcome: CallOutcome): Promise<void> {
    if (outcome.kind === 'cut' && outcome.why === 'cancelled') await cancelRun(requestId, principal, '', this.runtime);
  }

  /** Passes on what came for the form that waits; the form where the client is to show it. */
  async formToShow({ principal }: Caller, requestId: string, given: FormAnswers): Promise<CallerForm | null> {
    const run = { requestId, tenant: principal.tenantId };
    const forms = new CallerForms(this.runtime);
    const form = await forms.waiting(run);
    if (form === null) return null;
    const answer = given.without === null ? given.of(form) : { refused: given.without };
    if (answer === null) {
      await forms.show(run, form.id);
      return form;
    }
    await forms.answer(run, form.id, answer);
    return null;
  }

  /** Publishes the caller’s decision, as its own: whether it counts is the executor’s to say. */
  deciding(caller: Caller, answer: WantedCall['answer']): Following['decide'] {
    return async ({ requested, place }) => {
      const { approvalId, requestId, sessionId, argumentsHash, question } = requested;
      const decided = question === null ? answer(approvalId) : await this.answered(requested);
      if (decided === null) return false;
      const { bus, clock } = this.runtime;
      const record = make.approvalDecided({
        ...{ approvalId, requestId, sessionId, argumentsHash, ...decided },
        ...{ decidedBy: caller.principal.actorId, decidedAt: clock.now() },
        ...{ requestedPartition: place.partition, requestedOffset: place.offset },
      });
      const written = {
        topic: topics.approvals,
        key: sessionId,
        record: make.approval({ decided: record }),
      } as const;
      await bus.publish([{ ...written, headers: await this.credential(caller, written) }]);
      return true;
    };
  }

  /** The answer to the form that the call is parked for; null while there is none. */
  private async answered({ requestId, tenantId: tenant }: ApprovalRequested): Promise<Decision | null> {
    const parked = await new CallerForms(this.runtime).parked({ requestId, tenant });
    const answer = parked?.answer ?? null;
    if (answer === null) return null;
    const isGiven = !('refused' in answer) && answer.action === 'accept';
    return { decision: isGiven ? 'approve' : 'refuse', reason: '' };
  }

  /**
   * The request_id that the key stands for; the former one where the key was used under that. Sessions, which ids of
   * messages are of, outlast no upgrade.
   */
  async idOf({ principal }: Caller, session: string, key: CallKey): Promise<string> {
    const { ledger, clock } = this.runtime;
    const own = requestIdOf(session, principal, key);
    if (key.kind === 'message') return own;
    const former = formerRequestIdOf(session, key);
    const found = await ledger.find(claimName(principal, former));
    return found !== undefined && found.expiresAt > clock.now() ? former : own;
  }

  /**
   * When the call under this key began, if it did; null if it is to begin now. Throws KeyReused if the key is another
   * call’s, KeyTaken if its id is another run’s, and CallGone if its records are.
   */
  private async claimKey(
    caller: Caller,
    { requestId, session, key }: OfSession & Pick<WantedCall, 'key'>,
    digest: string,
  ): Promise<number | null> {
    const { ledger, clock } = this.runtime;
    const { tenantId: tenant } = caller.principal;
    const now = clock.now();
    const claimed = { key: claimName(caller.principal, requestId), owner: digest, now, ttlMs: claimMemoryMs };
    const claim = await ledger.claim(claimed);
    if (claim.owner !== digest) throw new KeyReused();
    // Only a request made for it takes the id of a message before; that is found out while the call is followed.
    if (key?.kind === 'message' && claim.claimedAt === now) return null;
    // An earlier attempt that claimed the key may have ended before its request was on the log.
    if ((await requestOwner({ requestId, tenant }, this.runtime)) === null) return null;
    if (await isElsewhere(this.place(caller, { requestId, session }), this.runtime)) throw new KeyInUse();
    if ((await claimingRequest({ requestId, tenant }, this.runtime)) === null) throw new CallGone();
    return claim.claimedAt - clockSkewMs;
  }

  private place(caller: Caller, { requestId, session }: OfSession): Parameters<typeof endIfElsewhere>[0] {
    const { principal } = caller;
    return {
      ...{ requestId, sessionId: sessionIdOf(session, requestId), tenant: principal.tenantId },
      isSender: (request) => this.callers.isSender(principal, request),
    };
  }

  private credential<T extends CredentialTopic>(
    { authorization, principal }: Caller,
    written: { readonly topic: T; readonly record: RecordOf<T> },
  ): Promise<Readonly<Record<string, string>>> {
    return this.runtime.credentials.headersFor(written, authorization, principal);
  }

  private access({ principal }: Caller, requestId: string): RunAccess {
    const isSender = (request: Incoming<RequestTopic>): Promise<boolean> => this.callers.isSender(principal, request);
    return new RunAccess(principal, { requestId, isSender }, this.runtime);
  }
}

/** A call that goes on when its client makes it again with an answer. */
function isPending({ kind }: CallOutcome): boolean {
  return kind === 'waiting' || kind === 'form';
}

type OfSession = { readonly requestId: string; readonly session: string | null };

function claimName({ tenantId, actorId }: Principal, requestId: string): string {
  return `mcp/key/${sha256(JSON.stringify([tenantId, actorId, requestId]))}`;
}

/** Where there is no session of the protocol, each call has its own. */
function sessionIdOf(session: string | null, requestId: string): string {
  return session === null ? requestId : sessionOfCalls(session);
}

/** The same records, and a call at their end. */
async function* behind(past: AsyncIterable<Incoming>, end: () => void): AsyncGenerator<Incoming, void, undefined> {
  yield* past;
  end();
}

/** A call that begins now waits for nothing that was asked before. */
function never(): Promise<boolean> {
  return Promise.resolve(false);
}
