import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Principal } from '@sluice/core';
import { requestOwner, RUNTIME } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { Callers } from './caller.js';
import { leaveStuck, whenGone } from './client-disconnect.js';
import type { Preference } from './prefers.js';
import { Refusal } from './refusal.js';
import { recordHeaders } from './record-headers.js';
import { jsonBody, requestOf, requireSize } from './requests.js';
import { endOf, running } from './run-json.js';
import { beginOf, placeAsked, whereIs } from './run-place.js';
import type { RunPlace } from './run-place.js';
import { encoded, runChunks } from './stream/run-stream.js';
import { endIfElsewhere, isElsewhere, takenElsewhere } from './watch/elsewhere.js';
import type { Followed } from './watch/followed.js';
import { Past } from './watch/past.js';
import { RunWatch } from './watch/run-watch.js';
import { anothersRun, RunAccess } from './watch/run-access.js';

/** What a caller sees: a run, by whom it may be seen, its records so far and those that come. */
interface RunView {
  readonly run: RunPlace;
  readonly whose: RunAccess;
  readonly past: Iterable<Incoming> | AsyncIterable<Incoming>;
  readonly followed: Followed;
}

/** Publishes requests, and reports their runs to their senders. */
@Injectable()
export class RunsService {
  private readonly past: Past;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunWatch) private readonly watch: RunWatch,
  ) {
    this.past = new Past(runtime.bus);
  }

  async begin(http: Request, preference: Preference, response: Response): Promise<void> {
    const { bus, clock } = this.runtime;
    const caller = await this.callers.of(http);
    const { request, isNamed } = requestOf(jsonBody(http));
    requireSize(topics.requests, request);
    const run = beginOf(request, clock.now());
    const { tenantId: tenant } = caller;
    if (isNamed && (await requestOwner({ requestId: run.requestId, tenant }, this.runtime)) !== null)
      throw new Refusal(409, 'conflict', `The request_id ${run.requestId} was taken before. ${howToSee}`);

    // Before it is published, so that nothing of it is missed.
    const followed = this.watch.follow(run, tenant);
    try {
      await bus.publish([
        { topic: topics.requests, key: run.sessionId, record: request, headers: recordHeaders(http) },
      ]);
      // An id that was made here belongs to no other run.
      if (isNamed) void endIfElsewhere({ ...run, tenant }, followed, this.runtime);
      await this.tell({ run, whose: this.access(caller, run), past: [], followed }, preference, response);
    } finally {
      followed.end();
    }
  }

  async see(
    asked: { readonly requestId: string; readonly query: Readonly<Record<string, unknown>> },
    http: Request,
    preference: Preference,
    response: Response,
  ): Promise<void> {
    const caller = await this.callers.of(http);
    const run = placeAsked(asked);
    const whose = this.access(caller, run);
    const gone = new AbortController();
    whenGone(response, () => gone.abort());
    const { tenantId: tenant } = caller;
    const followed = this.watch.follow(run, tenant);
    const past = this.past.of(run, whose, gone.signal);
    try {
      const first = await upToOwner(past, whose);
      if (!whose.isTheirs) {
        if (await isElsewhere({ ...run, tenant }, this.runtime)) throw new Refusal(409, 'conflict', takenElsewhere);
        void endIfElsewhere({ ...run, tenant }, followed, this.runtime);
      }
      await this.tell({ run, whose, past: behind(first, past), followed }, preference, response);
    } finally {
      followed.end();
      await past.return();
    }
  }

  private access(caller: Principal, { requestId }: RunPlace): RunAccess {
    const { tenantId: tenant } = caller;
    return new RunAccess(caller, {
      isSender: (request) => this.callers.isSender(caller, request),
      isTaken: async () => (await requestOwner({ requestId, tenant }, this.runtime)) !== null,
    });
  }

  private async tell(told: RunView, preference: Preference, response: Response): Promise<void> {
    const { run, whose, past, followed } = told;
    whenGone(response, () => followed.end());
    response.set('location', whereIs(run));
    if (preference.kind === 'stream') {
      const onFailure = (error: unknown): void =>
        this.runtime.log.warn(
          { request_id: run.requestId, error: error instanceof Error ? error.message : String(error) },
          'a stream over HTTP was cut',
        );
      return stream(told, response, onFailure);
    }
    const end = await endOf(whose, past, followed, preference.milliseconds);
    if (end === 'not_theirs') throw new Refusal(409, 'conflict', anothersRun);
    if (followed.cutShort === 'elsewhere') throw new Refusal(409, 'conflict', takenElsewhere);
    if (end === null) response.status(202).json(running(run));
    else response.status(200).json(end);
  }
}

const howToSee = 'GET /v1/runs/<request_id>?session_id=<session_id>&since=<when it began> says what came of it.';

async function stream(
  { run, whose, past, followed }: RunView,
  response: Response,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const { body, headers } = encoded(runChunks(run, whose, past, followed, onFailure));
  response.status(200).set(headers).flushHeaders();
  leaveStuck(response);
  // A client may go away: the run goes on without it.
  await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), response).catch(() => undefined);
}

/** What there is up to the first record that says whose the run is. Throws Refusal(404) if it is another’s, or nothing is there. */
async function upToOwner(past: AsyncIterator<Incoming, void>, whose: RunAccess): Promise<readonly Incoming[]> {
  const first: Incoming[] = [];
  for (let next = await past.next(); next.done !== true; next = await past.next()) {
    first.push(next.value);
    const telling = whose.of(next.value);
    if (telling === 'tell') return first;
    if (telling === 'not_theirs') break;
  }
  // It has not begun, so its owner is unknown. One that is over and never named its owner is shown to no one.
  const isOver = first.some(({ topic }) => topic === topics.responses);
  if (first.length > 0 && !isOver && first.every((message) => whose.of(message) === 'keep')) return first;
  throw new Refusal(404, 'not_found', 'You have no such run there. Look at its request_id, session_id and since.');
}

async function* behind(
  first: readonly Incoming[],
  rest: AsyncIterable<Incoming>,
): AsyncGenerator<Incoming, void, undefined> {
  yield* first;
  yield* rest;
}
