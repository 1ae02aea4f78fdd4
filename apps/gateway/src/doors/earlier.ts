import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import { loadedFor } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { encodeTurn, noUsage } from '@sluice/wires';
import { whenGone } from '../client-disconnect.js';
import { requireLink } from '../local-access.js';
import { Refusal } from '../refusal.js';
import type { RunAnswer } from '../run-answer.js';
import { ownRuns } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { runOfResponse } from './response-id.js';
import type { NamedResponse } from './response-id.js';
import type { SaidMessage } from './said.js';

/** What a response was asked and answered, to go on from. */
export interface Earlier {
  readonly sessionId: string;
  readonly conversation: readonly SaidMessage[];
}

type Json = Readonly<Record<string, unknown>>;

/** Responses that were given before, by their ids: each is a run of its caller. */
@Injectable()
export class EarlierResponses {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunsService) private readonly runs: RunsService,
  ) {}

  /** The response as it is now. Throws Refusal(401 or 404). */
  async read(id: string, caller: Principal, http: Request, response: Response): Promise<string> {
    const run = this.run(id, http);
    let told: Json = {};
    const answer: RunAnswer = {
      whenGone: (act) => whenGone(response, act),
      isAt: (address) => void response.set('location', address),
      send: (_, body) => void (told = body as Json),
      stream: () => Promise.resolve(),
    };
    await this.runs.see(run, ownRuns(caller), { kind: 'wait', milliseconds: 0 }, answer);
    const metadata = { sluice_run_id: run.requestId, sluice_session_id: run.sessionId };
    const { input = 0, output = 0, cached = 0 } = (told['tokens'] ?? {}) as Readonly<Record<string, number>>;
    const usage = { ...noUsage, inputTokens: input, outputTokens: output, cachedInputTokens: cached };
    const turn = {
      id,
      model: run.model,
      parts: textsOf(told),
      finish: 'stop',
      usage,
    } as const;
    return encodeTurn('openai-responses', turn, run.since, { ...statusOf(told), metadata }).body;
  }

  /**
   * What a response was asked and answered. What its client said before it goes along; what Sluice answered is in the
   * memory of the session where the agent has one. Throws Refusal(400, 401, 404 or 409).
   */
  async before(id: string, caller: Principal, http: Request, response: Response): Promise<Earlier> {
    const run = this.run(id, http);
    const gone = new AbortController();
    whenGone(response, () => gone.abort());
    const conversation: SaidMessage[] = [];
    let answer: string | null | undefined;
    let question = '';
    let agent: string | null = null;
    for await (const { topic, record } of this.runs.records(run, ownRuns(caller), gone.signal)) {
      if (topic === 'agent.requests') {
        ({ question, agent } = record);
        conversation.push(...((record.conversation ?? []) as readonly SaidMessage[]));
      } else if (topic === 'agent.responses') ({ answer } = record);
    }
    if (answer === undefined) throw refused(409, 'The run of that response has not ended. Go on from it once it has.');
    if (answer === null) throw refused(400, 'The run of that response ended without an answer, so nothing goes on from it.'); // prettier-ignore
    const current = this.runtime.configurations.current();
    const { memory } = loadedFor(current, { agent, call: null }).configuration;
    if (memory === undefined) conversation.push({ role: 'user', text: question }, { role: 'assistant', text: answer });
    return { sessionId: run.sessionId, conversation };
  }

  private run(id: string, http: Request): NamedResponse {
    const run = runOfResponse(id);
    if (run === null) throw refused(404, 'There is no such response here. Use the id that an answer of this door had.');
    requireLink(http, run, run.token ?? undefined, this.runtime);
    return run;
  }
}

function textsOf({ answer, structured, history }: Json): readonly { readonly type: 'text'; readonly text: string }[] {
  // No words beside an answer that has to fit a schema.
  if (typeof structured === 'string') return [{ type: 'text', text: structured }];
  const steps = (history ?? []) as readonly { readonly iteration: number; readonly thought: string }[];
  const thoughts = new Map(steps.map(({ iteration, thought }) => [iteration, thought]));
  const texts = [...[...thoughts].filter(([iteration]) => iteration > 0).map(([, thought]) => thought), answer];
  const said = texts.filter((text): text is string => typeof text === 'string' && text !== '');
  return said.length === 0 ? [] : [{ type: 'text', text: said.join('\n\n') }];
}

function statusOf({ status, error, incomplete, ended_at: endedAt }: Json): Readonly<Record<string, never>> {
  const known =
    status !== 'ended'
      ? { status: 'in_progress' }
      : error !== null && error !== undefined
        ? { status: 'failed', error: { code: 'server_error', message: (error as Json)['message'] } }
        : { completed_at: Math.floor(Number(endedAt) / 1_000), ...(incomplete ? { status: 'incomplete' } : {}) };
  return known as never;
}

function refused(status: number, message: string): Refusal {
  const code = status === 404 ? 'not_found' : status === 409 ? 'conflict' : 'invalid_request';
  return new Refusal(status, code, message, {}, { param: 'previous_response_id' });
}
