import { Inject, Injectable } from '@nestjs/common';
import { isRequest, make, positionOf, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, RequestTopic } from '@sluice/contracts';
import { type Incoming, tenantHeader } from '@sluice/bus';
import { requestWarnings } from '@sluice/core';
import type { Principal, RequestWarning } from '@sluice/core';
import {
  channelHeader,
  doorHeader,
  claimUploads,
  hasEnded,
  requestOwner,
  claimingRequest,
  nameParts,
  requestProblem,
  topicOfRequest,
  RunsWithin,
  waitingOf,
} from '@sluice/run';
import type { QuestionPart } from '@sluice/run';
import {
  anothersRun,
  contentExpiry,
  endIfElsewhere,
  isElsewhere,
  OpenRunLimit,
  Past,
  RunAccess,
  RUNTIME,
  RunWatch,
  claimedElsewhere,
} from '@sluice/host';
import type { Followed, Runtime } from '@sluice/host';
import type { NamedRun } from '@sluice/run';
import { Callers } from './caller.js';
import { linkToken } from './local-access.js';
import { Permission } from './permission.js';
import type { DoorRoute } from './permission.js';
import type { Preference } from './prefers.js';
import { Refusal } from './refusal.js';
import { recordHeaders } from './record-headers.js';
import type { SentHeaders } from './record-headers.js';
import { isSameRequest } from './repeated-request.js';
import { Lists } from './lists/lists.js';
import { requireSize } from './requests.js';
import { ownRuns } from './run-readers.js';
import type { RunReader } from './run-readers.js';
import type { NamedRequest } from './requests.js';
import type { RunAnswer } from './run-answer.js';
import { endOf, running } from './run-json.js';
import { beginOf, locationOfRequest, whereIs } from './run-location.js';
import type { RunLocation } from './run-location.js';
import { AgentParts } from './stream/agent-parts.js';
import { runChunks } from './stream/run-stream.js';
import { recordView } from './record-view.js';
import { refusingContent } from './uploads/refuse-content.js';
import { withWarnings } from './with-warnings.js';

/** A request for a run, as it came. */
interface AcceptedRun {
  readonly caller: Principal;
  readonly request: NamedRequest;
  /** Its images and files, which the record has the names of. */
  readonly parts: readonly QuestionPart[];
  /** Whether its sender chose its id, which another run may have. */
  readonly isNamed: boolean;
  readonly headers: SentHeaders;
  /** The route that it came by, where that is not POST /v1/runs. */
  readonly route?: DoorRoute;
  /** The wire that it came by, where that is a provider’s. */
  readonly door?: string;
}

/** A wish that a run end. */
interface AcceptedCancel {
  readonly caller: Principal;
  readonly run: RunLocation;
  readonly reason: string;
  readonly headers: SentHeaders;
}

/** What a caller sees: a run, by whom it may be seen, its records so far and those that come. */
interface RunView {
  readonly run: RunLocation;
  readonly reader: RunReader;
  readonly access: RunAccess;
  /** The request that was just written, which is not followed; null where the past has it. */
  readonly request: AgentRequest | null;
  readonly past: Iterable<Incoming> | AsyncIterable<Incoming>;
  readonly followed: Followed;
  /** The agents’ runs, which a stream shows as well. */
  readonly within: RunsWithin;
  /** About its request, where that came just now. */
  readonly warnings: readonly RequestWarning[];
}

/** Publishes requests, and reports their runs to their senders. */
@Injectable()
export class RunsService {
  private readonly past: Past;
  private readonly open: OpenRunLimit;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunWatch) private readonly watch: RunWatch,
    @Inject(Permission) private readonly permission: Permission,
    @Inject(Lists) private readonly lists: Lists,
  ) {
    this.past = new Past(runtime);
    this.open = new OpenRunLimit(runtime, watch, 'http');
  }

  async begin(asked: AcceptedRun, preference: Preference, answer: RunAnswer): Promise<void> {
    const { bus, clock } = this.runtime;
    const { caller, isNamed, headers: sent } = asked;
    requireSize(topics.requests, asked.request);
    await this.permission.require(asked.request, caller, asked.route ?? 'POST /v1/runs');
    const request = await this.withContent(asked);
    const warnings = requestWarnings(this.runtime.configurations.current().evaluator, caller.groups, request);
    const run = beginOf(request, clock.now());
    const { tenantId: tenant } = caller;
    if (isNamed && (await requestOwner({ requestId: run.requestId, tenant }, this.runtime)) !== null)
      return this.see(await this.repeated(request, caller), ownRuns(caller), preference, answer);

    // Before it is published, so that nothing of it is missed.
    const within = new RunsWithin(run.requestId);
    const followed = this.watch.follow(run, tenant, preference.kind === 'stream' ? within : undefined);
    try {
      const takeBack = await this.open.admit({ ...run, tenant, isCall: request.call !== null });
      try {
        const record = await this.withClaimedContent(request, caller);
        const written = { topic: topicOfRequest(record, this.runtime), record };
        const own = await recordHeaders(sent, written, caller, this.runtime);
        const came = asked.door === undefined ? {} : { [doorHeader]: asked.door };
        const headers = { ...own, [channelHeader]: 'http', ...came, [tenantHeader]: tenant };
        await bus.publish([{ ...written, key: run.sessionId, headers }]);
      } catch (error) {
        takeBack();
        throw error;
      }
      // An id that was made here belongs to no other run.
      if (isNamed) void endIfElsewhere({ ...run, tenant }, followed, this.runtime);
      await this.tell(
        {
          run,
          request,
          reader: ownRuns(caller),
          access: this.access(ownRuns(caller), run),
          past: [],
          followed,
          within,
          warnings,
        },
        preference,
        answer,
      );
    } finally {
      followed.end();
    }
  }

  /** The request with the names of its images and files. Throws Refusal(400, 404 or 413). */
  private async withContent({ request, parts, caller }: AcceptedRun): Promise<NamedRequest> {
    if (parts.length === 0) return request;
    const { clock, content: store } = this.runtime;
    const run = { tenantId: caller.tenantId, runId: request.requestId };
    const content = await refusingContent(() => nameParts(store, caller, run, parts, clock.now()));
    const named = { ...request, content };
    const problem = requestProblem(named, named);
    if (problem !== null) throw new Refusal(400, 'invalid_request', problem);
    requireSize(topics.requests, named);
    return named;
  }

  /**
   * The request whose content is the run's own, which it is before the record that names it is written. Throws
   * Refusal(404) for an upload that is not there.
   */
  private async withClaimedContent(request: NamedRequest, caller: Principal): Promise<NamedRequest> {
    const { content: names } = request;
    if (names === null) return request;
    const run = { tenantId: caller.tenantId, runId: request.requestId };
    const expiresAt = contentExpiry(this.runtime);
    return {
      ...request,
      content: await refusingContent(() => claimUploads(this.runtime.content, caller, run, names, expiresAt)),
    };
  }

  /** Where the run is that this very request began before. Throws Refusal(409) where another one has its id. */
  private async repeated(request: NamedRequest, caller: Principal): Promise<RunLocation> {
    const { requestId } = request;
    const first = await claimingRequest({ requestId, tenant: caller.tenantId }, this.runtime);
    if (first !== null && (await this.callers.isSender(caller, first)) && isSameRequest(first, request))
      return locationOfRequest(first);
    throw new Refusal(
      409,
      'conflict',
      `The request_id ${requestId} was taken before, by a request that says something else. ${howToSee}`,
    );
  }

  /**
   * Asks that the caller’s run be cancelled, and reports how it goes on. The filter decides whether that counts; a
   * run that has ended is shown as it ended, and nothing is asked.
   */
  async cancel(asked: AcceptedCancel, preference: Preference, answer: RunAnswer): Promise<void> {
    const { caller, run } = asked;
    await this.see(run, ownRuns(caller), preference, answer, async () => {
      const { requestId } = run;
      if (await hasEnded({ requestId, tenant: caller.tenantId, attempt: null }, this.runtime)) return;
      await this.askToCancel(asked);
    });
  }

  /** Publishes the wish. The filter decides whether it counts. */
  async askToCancel({ caller, run: { requestId, sessionId }, reason, headers: sent }: AcceptedCancel): Promise<void> {
    const { bus, clock } = this.runtime;
    const record = make.cancellation({ requestId, sessionId, reason, askedAt: clock.now() });
    const written = { topic: topics.cancellations, record } as const;
    const headers = await recordHeaders(sent, written, caller, this.runtime);
    await bus.publish([{ ...written, key: sessionId, headers }]);
  }

  /**
   * Where a run that its reader may see begins on the log, as the ledger knows it. Throws Refusal(404) if there is none
   * of that name.
   */
  async locate(requestId: string, reader: RunReader): Promise<RunLocation> {
    const { caller, seesAll } = reader;
    const message = await claimingRequest({ requestId, tenant: caller.tenantId }, this.runtime);
    if (message === null || !(seesAll || (await this.callers.isSender(caller, message)))) throw noSuchRun();
    return locationOfRequest(message);
  }

  /**
   * The records of a run as far as its reader may see them: of the run of an agent too, which no request began. Throws
   * Refusal(404) if there is none.
   */
  async *records(
    at: RunLocation | string,
    reader: RunReader,
    signal: AbortSignal,
    within?: RunsWithin,
  ): AsyncGenerator<Incoming, void, undefined> {
    const run = typeof at === 'string' ? await this.locateAny(at, reader) : at;
    const access = this.access(reader, run);
    const past = this.past.of(run, access, signal, within);
    try {
      for await (const message of behind(await upToOwner(past, access), past)) {
        const visibility = access.of(message);
        if (visibility === 'not_theirs') throw new Refusal(409, 'conflict', anothersRun);
        if (visibility === 'tell' || isRequest(message)) yield message;
      }
    } finally {
      await past.return();
    }
  }

  /** As `locate`, for agents’ runs too, which the lists know. */
  private async locateAny(requestId: string, reader: RunReader): Promise<RunLocation> {
    try {
      return await this.locate(requestId, reader);
    } catch (error) {
      const listed = await this.lists.projection.run(reader.caller, requestId);
      if (listed === undefined) throw error;
      const { actor, subject, sessionId, startedAt } = listed;
      if (!reader.seesAll && (actor !== reader.caller.actorId || subject !== reader.caller.subjectId)) throw error;
      return beginOf({ requestId, sessionId }, startedAt);
    }
  }

  /** Reports a run. `act` is done once it is known that its reader may see it. */
  async see(
    run: RunLocation,
    reader: RunReader,
    preference: Preference,
    answer: RunAnswer,
    act?: () => Promise<void>,
  ): Promise<void> {
    const access = this.access(reader, run);
    const gone = new AbortController();
    answer.whenGone(() => gone.abort());
    const { tenantId: tenant } = reader.caller;
    const within = new RunsWithin(run.requestId);
    const wanted = preference.kind === 'stream' ? within : undefined;
    const followed = this.watch.follow(run, tenant, wanted);
    const past = this.past.of(run, access, gone.signal, wanted);
    try {
      const first = await upToOwner(past, access);
      if (!access.isTheirs) {
        if (await isElsewhere({ ...run, tenant }, this.runtime)) throw new Refusal(409, 'conflict', claimedElsewhere);
        void endIfElsewhere({ ...run, tenant }, followed, this.runtime);
      }
      await act?.();
      await this.tell(
        { run, request: null, reader, access, past: behind(first, past), followed, within, warnings: [] },
        preference,
        answer,
      );
    } finally {
      followed.end();
      await past.return();
    }
  }

  private access({ caller, seesAll }: RunReader, { requestId }: RunLocation): RunAccess {
    const { tenantId: tenant } = caller;
    const isSender = async (request: Incoming<RequestTopic>): Promise<boolean> =>
      (await this.callers.isSender(caller, request)) ||
      (seesAll && (await this.isClaiming(request, { requestId, tenant })));
    return new RunAccess(caller, { requestId, isSender, seesAll }, this.runtime);
  }

  /** Whether the request is the one that has the run’s id in the tenant. */
  private async isClaiming(request: Incoming, run: NamedRun): Promise<boolean> {
    return (await requestOwner(run, this.runtime)) === positionOf(request);
  }

  /** No request begins an agent’s run. */
  private accessToAgents({ caller, seesAll }: RunReader, runId: string): RunAccess {
    return new RunAccess(caller, { requestId: runId, isSender: () => Promise.resolve(false), seesAll }, this.runtime);
  }

  private async tell(view: RunView, preference: Preference, answer: RunAnswer): Promise<void> {
    const { run, request, reader, access, past, followed, within, warnings } = view;
    answer.whenGone(() => followed.end());
    const token = linkToken(run, this.runtime);
    answer.isAt(whereIs(run, token));
    const read = recordView(this.runtime.configurations);
    if (preference.kind === 'stream') {
      const onFailure = (error: unknown): void =>
        this.runtime.log.warn(
          { request_id: run.requestId, error: error instanceof Error ? error.message : String(error) },
          'a stream over HTTP was cut',
        );
      const agents = new AgentParts(within, (runId) => this.accessToAgents(reader, runId), read);
      const onEnd = (end: AgentResponse): void => answer.ended?.(end);
      return answer.stream(runChunks(run, token, access, past, followed, onFailure, read, agents, onEnd, request));
    }
    const end = await endOf(access, past, followed, preference.milliseconds, this.runtime.signatures, read, request);
    if (end === 'not_theirs') throw new Refusal(409, 'conflict', anothersRun);
    if (followed.cutShort === 'elsewhere') throw new Refusal(409, 'conflict', claimedElsewhere);
    if ('end' in end) answer.send(200, withWarnings(end.end, warnings));
    else {
      const waiting = access.isTheirs ? await waitingOf(run.requestId, access.tenantId, this.runtime) : null;
      answer.send(202, withWarnings(running(run, end.running, waiting), warnings));
    }
  }
}

const howToSee = 'GET /v1/runs/<request_id>?session_id=<session_id>&since=<when it began> shows its state.';

/**
 * What there is up to the first record that says whose the run is. Throws Refusal(404) if it is another’s, or nothing
 * is there.
 */
async function upToOwner(past: AsyncIterator<Incoming, void>, access: RunAccess): Promise<readonly Incoming[]> {
  const first: Incoming[] = [];
  for (let next = await past.next(); next.done !== true; next = await past.next()) {
    first.push(next.value);
    const telling = access.of(next.value);
    if (telling === 'tell') return first;
    if (telling === 'not_theirs') break;
  }
  // It has not begun, so its owner is unknown. One that is over and never named its owner is shown to no one.
  const isOver = first.some(({ topic }) => topic === topics.responses);
  if (first.length > 0 && !isOver && first.every((message) => access.of(message) === 'keep')) return first;
  throw noSuchRun();
}

function noSuchRun(): Refusal {
  return new Refusal(
    404,
    'not_found',
    'You have no such run there. Look at its request_id, and at session_id and since where you give them; right after the POST use the link of its answer.',
  );
}

async function* behind(
  first: readonly Incoming[],
  rest: AsyncIterable<Incoming>,
): AsyncGenerator<Incoming, void, undefined> {
  yield* first;
  yield* rest;
}
