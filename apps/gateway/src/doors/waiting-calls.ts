import { Inject, Injectable } from '@nestjs/common';
import { make, topics } from '@sluice/contracts';
import type { Principal } from '@sluice/core';
import { ClientCalls, isClientCallId } from '@sluice/run';
import type { ClientCall, ClientResult, ClientWait } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { DecodedRequest } from '@sluice/wires';
import { recordHeaders } from '../record-headers.js';
import type { SentHeaders } from '../record-headers.js';
import { Refusal } from '../refusal.js';
import type { RunLocation } from '../run-location.js';
import { ownRuns } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import type { DoorBody } from './door.js';
import { resultsIn, saidBy } from './brought-results.js';
import type { SaidPart } from './brought-results.js';
import { runOfResponse } from './response-id.js';

/** A run that goes on with what its client gave. */
export interface GoingOn {
  readonly wait: ClientWait;
  readonly results: readonly ClientResult[];
}

/** Calls that wait for a client, as the client that made the run finds them. */
@Injectable()
export class WaitingCalls {
  private readonly calls: ClientCalls;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunsService) private readonly runs: RunsService,
  ) {
    this.calls = new ClientCalls(runtime);
  }

  /** The calls of the run that wait under the question. */
  async of(run: { readonly requestId: string }, caller: Principal, question: string): Promise<readonly ClientCall[]> {
    const wait = await this.calls.find({ requestId: run.requestId, tenant: caller.tenantId }, question);
    return wait?.calls ?? [];
  }

  /**
   * The run for whose calls the request brings results; null where it is about no such run, or about another branch of
   * the conversation, which is a run of its own. Throws Refusal(400 or 404).
   */
  async goingOn({ body, decoded }: DoorBody, caller: Principal): Promise<GoingOn | null> {
    const { previous_response_id: previous } = body;
    const brought = resultsIn(decoded);
    const first = firstResult(body, brought?.results.length ?? 0);
    const ids = brought?.results.map(({ toolCallId }) => toolCallId) ?? [];
    if (brought === null || !ids.some(isClientCallId)) return null;
    const found = new Map<string, ClientWait | null>();
    const waitOf = async (id: string): Promise<ClientWait | null> => {
      if (!found.has(id)) found.set(id, await this.ofCaller(id, caller));
      return found.get(id) ?? null;
    };
    const [id = ''] = ids;
    const wait = await waitOf(id);
    if (wait === null) throw refused(404, `No call of yours waits under the id ${shown(id)}.`);
    // All others are of the same answer, so that any number of ids is looked up once.
    const other = ids.find((one) => !wait.calls.some((call) => call.id === one));
    if (other !== undefined) {
      if ((await waitOf(other)) === null) throw refused(404, `No call of yours waits under the id ${shown(other)}.`);
      throw refused(400, 'The results are of calls of several answers. Send those of the last answer at the end.');
    }
    if (!(await this.isSameBranch(decoded, previous, brought.before, wait, waitOf))) return null;
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    if (twice !== undefined) throw refused(400, `There are two results of the call ${twice}. Send one.`);
    const missing = wait.calls.filter(({ id }) => !ids.includes(id)).map(({ id }) => id);
    if (missing.length > 0)
      throw refused(400, `Results of ${missing.join(', ')} are missing. Send the results of all calls of the answer.`);
    const inResult = decoded.beyond.find((path) => isInResult(path, first));
    if (inResult !== undefined) throw refused(400, `${inResult} is no text. Results of calls are texts here.`);
    return {
      wait,
      results: brought.results.map(({ toolCallId: id, text, isError }) => ({ id, text, isError })),
    };
  }

  /**
   * Lets the run go on with the results, where they are the first. Throws Refusal(409) where others came before, or
   * where they come too late.
   */
  async receive({ wait, results }: GoingOn, run: RunLocation, caller: Principal, sent: SentHeaders): Promise<void> {
    const received = await this.calls.receive(wait, results);
    if (received === 'others')
      throw refused(409, 'Other results of these calls came before, and the run went on with them. Send those, or another message.', 'conflict'); // prettier-ignore
    if (received === 'late')
      throw refused(409, `The calls waited for their results until ${new Date(wait.until).toISOString()}, and the run went on without them. Send another message.`, 'conflict'); // prettier-ignore
    if (received === 'first') await this.decide(wait, run, caller, sent);
  }

  /**
   * Says that there are results. Where this is lost, the executors find them by themselves, some seconds later.
   */
  private async decide(wait: ClientWait, run: RunLocation, caller: Principal, sent: SentHeaders): Promise<void> {
    const { bus, clock } = this.runtime;
    const ended = new AbortController();
    try {
      for await (const { topic, record, partition, offset } of this.runs.records(run, ownRuns(caller), ended.signal)) {
        const requested = topic === topics.approvals ? record.requested : null;
        if (requested?.approvalId !== wait.question) continue;
        const { approvalId, requestId, sessionId, argumentsHash } = requested;
        const decided = make.approvalDecided({
          ...{ approvalId, requestId, sessionId, argumentsHash, decision: 'approve', reason: '' },
          ...{ decidedBy: caller.actorId, decidedAt: clock.now() },
          ...{ requestedPartition: partition, requestedOffset: offset },
        });
        const written = { topic: topics.approvals, record: make.approval({ decided }) } as const;
        const headers = await recordHeaders(sent, written, caller, this.runtime);
        await bus.publish([{ ...written, key: sessionId, headers }]);
        return;
      }
    } finally {
      ended.abort();
    }
  }

  /** As not there where it is another caller’s. */
  private async ofCaller(id: string, { tenantId, actorId, subjectId }: Principal): Promise<ClientWait | null> {
    const wait = await this.calls.byId(id);
    return wait?.tenant === tenantId && wait.actor === actorId && wait.subject === subjectId ? wait : null;
  }

  /** Whether all that stands before the results is what the run began with, and what it and its client said since. */
  private async isSameBranch(
    decoded: DecodedRequest,
    previous: unknown,
    before: readonly SaidPart[],
    wait: ClientWait,
    waitOf: (id: string) => Promise<ClientWait | null>,
  ): Promise<boolean> {
    if (typeof previous === 'string') {
      if (runOfResponse(previous)?.requestId === wait.requestId && before.length === 0) return true;
      throw refused(400, 'The results are of another response than `previous_response_id` names.');
    }
    const isIts = async ({ part }: SaidPart): Promise<ClientWait | null> => {
      if (part.type !== 'call' && part.type !== 'result') return null;
      const own = await waitOf(part.toolCallId);
      return own?.requestId === wait.requestId ? own : null;
    };
    const own: (ClientWait | null)[] = [];
    for (const part of before) own.push(await isIts(part));
    if (!own.some((one) => one?.question === wait.question))
      throw refused(400, 'The calls of these results are missing. Send the answer that made them before the results.');
    const callsAt = own.findIndex((one) => one !== null);
    // The texts of the answer that made the calls stand before them.
    const textsAt = before.findLastIndex(({ role }, at) => at < callsAt && role !== 'assistant') + 1;
    if (saidBy(decoded, before.slice(0, textsAt)) !== wait.said) return false;
    return before.slice(callsAt).every(({ role, part }, n) => {
      if (role === 'assistant') return true;
      const kept = own[callsAt + n]?.results ?? [];
      return (
        part.type === 'result' &&
        kept.some(({ id, text, isError }) => id === part.toolCallId && text === part.text && isError === part.isError)
      );
    });
  }
}

/** Where in its list of messages or items a request’s results begin: in Messages one message has all of them. */
function firstResult({ messages, input }: DoorBody['body'], count: number): number {
  const list = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [];
  const last = list.at(-1) as { readonly role?: unknown; readonly type?: unknown } | undefined;
  return list.length - (last?.role === 'tool' || last?.type === 'function_call_output' ? count : 1);
}

/** Whether a path that nothing reads is a part of one of the results, such as an image. */
function isInResult(path: string, first: number): boolean {
  const at = /^(?:messages|input)\[(\d+)\].*\.(?:content|output)\[\d+\]$/.exec(path)?.[1];
  return at !== undefined && Number(at) >= first;
}

/** An id of a client’s, as far as a message repeats it. */
function shown(id: string): string {
  return id.slice(0, 100);
}

function refused(status: number, message: string, code = status === 404 ? 'not_found' : 'invalid_request'): Refusal {
  return new Refusal(status, code as 'not_found', message, {}, { param: null });
}
