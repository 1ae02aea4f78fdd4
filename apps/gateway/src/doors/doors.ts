import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { JsonObject, Principal } from '@sluice/core';
import { agentsFor, printable } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { RunAnswer } from '../run-answer.js';
import { beginOf, whereIs } from '../run-location.js';
import type { RunLocation } from '../run-location.js';
import { ownRuns } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { DoorAnswer } from './door-answer.js';
import type { DoorRoute } from '../permission.js';
import type { DoorBody, DoorWire } from './door.js';
import { isHeldAnswer } from './answer-form.js';
import { doorBody, doorRequest, metadataIn, repeatedIn } from './door-request.js';
import type { DoorRequest } from './door-request.js';
import { EarlierResponses } from './earlier.js';
import { responseId } from './response-id.js';
import { WaitingCalls } from './waiting-calls.js';
import type { GoingOn } from './waiting-calls.js';

/** What an answer is made of. */
interface Answering {
  readonly wire: DoorWire;
  readonly run: RunLocation;
  readonly asked: Pick<DoorRequest, 'model' | 'isHeld' | 'metadata' | 'repeated'>;
  readonly isStreamed: boolean;
  /** The question behind whose results it begins; null for the beginning of the run. */
  readonly after: string | null;
}

/** Characters of the header that names what was not read. */
const longestIgnored = 2_000;

/** Starts a run for a request of a wire, and answers in that wire. */
@Injectable()
export class Doors {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(EarlierResponses) private readonly earlier: EarlierResponses,
    @Inject(WaitingCalls) private readonly waiting: WaitingCalls,
  ) {}

  /** The agents that the caller may name. */
  agents(caller: Principal): readonly string[] {
    return agentsFor(caller, this.runtime.configurations.current().configuration);
  }

  async answer(wire: DoorWire, route: DoorRoute, caller: Principal, http: Request, response: Response): Promise<void> {
    const { configurations } = this.runtime;
    const { evaluator } = configurations.current();
    const sent = doorBody(wire, http);
    const goingOn = await this.waiting.goingOn(sent, caller);
    if (goingOn !== null) return this.goOn(wire, sent, goingOn, caller, http, response);
    const asked = await doorRequest(wire, http, caller, sent, {
      ...{ agents: this.agents(caller), evaluator },
      earlier: (id) => this.earlier.before(id, caller, http, response),
    });
    const { request, isNamed, parts, isStreamed, ignored } = asked;
    const run = beginOf(request, this.runtime.clock.now());
    if (ignored.length > 0) response.set({ 'x-sluice-ignored': headerOf(ignored) });
    const answer = this.answering({ wire, run, asked, isStreamed, after: null }, caller, http, response);
    await this.runs.begin(
      { caller, request, parts, isNamed, headers: http, route, door: wire },
      { kind: 'stream' },
      answer,
    );
  }

  /** The run goes on with results of its client’s calls, and the answer is what follows them. */
  private async goOn(
    wire: DoorWire,
    { body, decoded }: DoorBody,
    goingOn: GoingOn,
    caller: Principal,
    http: Request,
    response: Response,
  ): Promise<void> {
    const { question, requestId } = goingOn.wait;
    const run = await this.runs.locate(requestId, ownRuns(caller));
    const { model, stream: isStreamed } = decoded;
    const { configuration } = this.runtime.configurations.current();
    const isHeld = isHeldAnswer(wire, body, model, configuration);
    const asked = { model, isHeld, metadata: metadataIn(body), repeated: repeatedIn(body) };
    const answer = this.answering({ wire, run, asked, isStreamed, after: question }, caller, http, response);
    const receive = (): Promise<void> => this.waiting.receive(goingOn, run, caller, http);
    await this.runs.see(run, ownRuns(caller), { kind: 'stream' }, answer, receive);
  }

  private answering(
    { wire, run, asked, isStreamed, after }: Answering,
    caller: Principal,
    http: Request,
    response: Response,
  ): DoorAnswer {
    const { clock, environment } = this.runtime;
    const { model } = asked;
    response.set({ 'x-sluice-run': printable(run.requestId) });
    const head = {
      ...{
        wire,
        idOf: idOf(wire, run, model, after),
        model,
        createdAtMs: clock.now(),
        shown: environment.http.doors.calls,
      },
      ...{ isHeld: asked.isHeld, beside: besideOf(wire, run, asked), after },
      callsOf: (question: string) => this.waiting.of(run, caller, question),
      waiting: ({ tool, approvalId }: { readonly tool: string; readonly approvalId: string }) =>
        `A call of ${tool} waits for an approval (${approvalId}). The run goes on: ${this.link(http, run)}`,
    };
    return new DoorAnswer(response, head, isStreamed, () => void this.left(run, caller, http));
  }

  /** Where a person looks: the run’s page, or its JSON where no pages are served. The link opens nothing by itself. */
  private link(http: Request, run: RunLocation): string {
    const host = http.get('host') ?? 'localhost';
    const { isConsoleServed } = this.runtime.environment.http;
    const path = isConsoleServed ? whereIs(run).replace(/^\/v1/, '') : whereIs(run);
    return `${http.protocol}://${host}${path}`;
  }

  /** A client that leaves ends its run where the operator says so; else the run goes on. */
  private async left(run: RunLocation, caller: Principal, headers: Request): Promise<void> {
    const { environment, log } = this.runtime;
    if (environment.http.doors.leaving !== 'cancel') return;
    try {
      const asked = { run, caller, reason: 'Its client went away.', headers };
      await this.runs.cancel(asked, { kind: 'wait', milliseconds: 0 }, unheard);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ request_id: run.requestId, reason }, 'the run of a client that left could not be cancelled');
    }
  }
}

/** For an act that no client hears of. */
const unheard: RunAnswer = {
  whenGone: () => undefined,
  isAt: () => undefined,
  send: () => undefined,
  stream: () => Promise.resolve(),
};

/** How an answer of the wire is named: by its run, or in Responses by all that finds that again. */
function idOf(
  wire: DoorWire,
  { requestId }: RunLocation,
  model: string,
  after: string | null,
): (address: string) => string {
  switch (wire) {
    case 'openai-chat':
      return () => `chatcmpl-${requestId}`;
    case 'anthropic':
      return () => `msg_${requestId}`;
    case 'openai-responses':
      return (address) => responseId(requestId, address, model, after);
  }
}

/** What an answer says beside its turn: which run it is, where its wire has a place for that. */
function besideOf(
  wire: DoorWire,
  { requestId, sessionId }: RunLocation,
  { metadata, repeated }: Answering['asked'],
): JsonObject {
  const named = { sluice_run_id: requestId, sluice_session_id: sessionId };
  if (wire === 'anthropic') return {};
  return wire === 'openai-chat' ? { metadata: named } : { ...repeated, metadata: { ...metadata, ...named } };
}

function headerOf(names: readonly string[]): string {
  const text = names.map((name) => name.replace(/[^\x20-\x7e]/g, '?')).join(', ');
  return text.length <= longestIgnored ? text : `${text.slice(0, longestIgnored)}...`;
}
