import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isClientTool } from '@sluice/core';
import type { Principal } from '@sluice/core';
import type { ApprovalRequested, Run, ToolCall } from '@sluice/contracts';
import { RUNTIME } from '@sluice/host';
import { loadedFor } from '@sluice/run';
import type { ClientCall } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { encodeTurn, noUsage } from '@sluice/wires';
import { whenGone } from '../client-disconnect.js';
import { requireLink } from '../local-access.js';
import { Refusal } from '../refusal.js';
import type { RunAnswer } from '../run-answer.js';
import { ownRuns } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { runOfResponse } from './response-id.js';
import { WaitingCalls } from './waiting-calls.js';
import type { NamedResponse } from './response-id.js';
import type { SaidMessage } from './said.js';

/** What a response was asked and answered, to go on from. */
export interface Earlier {
  readonly sessionId: string;
  readonly conversation: readonly SaidMessage[];
}

type Json = Readonly<Record<string, unknown>>;

interface UpToCalls {
  readonly calls: readonly ClientCall[] | null;
  /** What its turns said that called tools. */
  readonly texts: readonly string[];
  /** What its turns used; null where the run says it. */
  readonly tokens: Pick<Run, 'inputTokens' | 'outputTokens'> | null;
}

/** Responses that were given before, by their ids: each is a run of its caller. */
@Injectable()
export class EarlierResponses {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(WaitingCalls) private readonly waiting: WaitingCalls,
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
    const { calls, texts: thoughts, tokens } = await this.upToCalls(run, caller, response);
    const { input = 0, output = 0, cached = 0 } = (told['tokens'] ?? {}) as Readonly<Record<string, number>>;
    const used = tokens ?? { inputTokens: input, outputTokens: output, cachedInputTokens: cached };
    const texts = textsOf(calls === null ? told : {}, thoughts);
    const parts = (calls ?? []).map(({ id: toolCallId, name, arguments: args }) => {
      return { type: 'call' as const, toolCallId, name, args };
    });
    const finish = calls === null ? ('stop' as const) : ('calls' as const);
    const turn = { id, model: run.model, usage: { ...noUsage, ...used }, parts: [...texts, ...parts], finish };
    const status = calls === null ? statusOf(told) : {};
    return encodeTurn('openai-responses', turn, run.since, { ...status, metadata }).body;
  }

  /** The calls of the client that the response ends with, null where it ends with the run, and what was said before. */
  private async upToCalls(run: NamedResponse, caller: Principal, response: Response): Promise<UpToCalls> {
    const gone = new AbortController();
    whenGone(response, () => gone.abort());
    const turns = new Map<number, ToolCall>();
    const asked: ApprovalRequested[] = [];
    for await (const { topic, record } of this.runs.records(run, ownRuns(caller), gone.signal)) {
      if (topic === 'agent.tool-calls') turns.set(record.iteration, record);
      const requested = topic === 'agent.approvals' ? record.requested : null;
      if (requested?.question != null && isClientTool(requested.tool)) asked.push(requested);
    }
    const at = asked.findIndex(({ approvalId }) => approvalId === run.after);
    const from = asked[at]?.iteration ?? 0;
    const next = asked[at + 1];
    const own = [...turns].filter(([iteration]) => iteration > from && iteration <= (next?.iteration ?? Infinity));
    const texts = own.map(([, { thought }]) => thought);
    if (next === undefined) return { calls: null, texts, tokens: null };
    const before = turns.get(from)?.run ?? { inputTokens: 0, outputTokens: 0 };
    const { inputTokens = 0, outputTokens = 0 } = turns.get(next.iteration)?.run ?? {};
    return {
      calls: await this.waiting.of(run, caller, next.approvalId),
      texts,
      tokens: {
        inputTokens: inputTokens - before.inputTokens,
        outputTokens: outputTokens - before.outputTokens,
      },
    };
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
    let open: string | null = null;
    for await (const { topic, record } of this.runs.records(run, ownRuns(caller), gone.signal)) {
      if (topic === 'agent.requests' || topic === 'agent.calls') {
        ({ question, agent } = record);
        conversation.push(...((record.conversation ?? []) as readonly SaidMessage[]));
      } else if (topic === 'agent.responses') ({ answer } = record);
      else if (topic === 'agent.approvals') {
        const { requested, outcome } = record;
        if (requested?.question != null && isClientTool(requested.tool)) open = requested.approvalId;
        else if (outcome?.approvalId === open) open = null;
      }
    }
    // What came before its calls, which this message leaves.
    if (answer === undefined && open !== null)
      return { sessionId: run.sessionId, conversation: [...conversation, { role: 'user', text: question }] };
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

/** The texts of turns, and of the answer. */
function textsOf(
  { answer, structured }: Json,
  thoughts: readonly string[],
): readonly { readonly type: 'text'; readonly text: string }[] {
  // No words beside an answer that has to fit a schema.
  if (typeof structured === 'string') return [{ type: 'text', text: structured }];
  const said = [...thoughts, answer].filter((text): text is string => typeof text === 'string' && text !== '');
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
