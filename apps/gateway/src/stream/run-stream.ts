import type { RecordView } from '../record-view.js';
import { AssistantTransportEncoder } from 'assistant-stream';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { Incoming } from '@sluice/bus';
import { isRequest } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { RunLocation } from '../run-location.js';
import { claimedElsewhere } from '@sluice/host';
import { anothersRun } from '@sluice/host';
import type { Followed, RunAccess } from '@sluice/host';
import type { AgentParts } from './agent-parts.js';
import { RunParts } from './parts.js';

/**
 * So often something is sent at least, for proxies that close what is silent: an empty list of data, which adds
 * nothing.
 */
const keepAliveMs = 15_000;

/**
 * A run as the chunks of one assistant message: what there was, then what comes, until its end. They are made as they
 * are taken, so a slow reader holds up no other.
 */
export async function* runChunks(
  { requestId, sessionId, since }: RunLocation,
  token: string | null,
  whose: RunAccess,
  past: Iterable<Incoming> | AsyncIterable<Incoming>,
  followed: Followed,
  onFailure: (error: unknown) => void,
  view: RecordView,
  agents: AgentParts,
  onEnd: (end: AgentResponse) => void = () => undefined,
  request: AgentRequest | null = null,
): AsyncGenerator<AssistantStreamChunk, void, undefined> {
  const parts = new RunParts(view);
  if (request !== null) parts.asks(request);
  const again = `The run goes on: GET /v1/runs/${encodeURIComponent(requestId)} tells it from its beginning.`;
  try {
    yield* parts.begin({ request_id: requestId, session_id: sessionId, since, ...(token === null ? {} : { token }) });
    for await (const message of past) {
      if (!followed.isNews(message)) continue;
      const ofAgent = await agents.of(message);
      if (ofAgent !== null) yield* ofAgent;
      else if (yield* told(message, whose, parts, onEnd)) return;
    }
    for (;;) {
      const message = await followed.next(keepAliveMs);
      if (message === undefined) break;
      const ofAgent = message && (await agents.of(message));
      if (message === null) yield { type: 'data', path: [], data: [] };
      else if (ofAgent !== null) yield* ofAgent;
      else if (!(await whose.concerns(message))) continue;
      else if (yield* told(message, whose, parts, onEnd)) return;
    }
    if (followed.cutShort === 'slow') yield* parts.cut('slow', `The reader is too slow: the stream ends. ${again}`);
    else if (followed.cutShort === 'stopping') yield* parts.cut('stopping', `This gateway is being stopped. ${again}`);
    else if (followed.cutShort === 'elsewhere') yield* parts.cut('conflict', claimedElsewhere);
  } catch (error) {
    onFailure(error);
    yield* parts.cut('interrupted', `The log cannot be read on now. ${again}`);
  } finally {
    followed.end();
  }
}

/** True once nothing more is to be sent. */
function* told(
  message: Incoming,
  whose: RunAccess,
  parts: RunParts,
  onEnd: (end: AgentResponse) => void,
): Generator<AssistantStreamChunk, boolean, undefined> {
  switch (whose.of(message)) {
    case 'keep':
      if (isRequest(message)) parts.asks(message.record);
      return false;
    case 'not_theirs':
      yield* parts.cut('conflict', anothersRun);
      return true;
    case 'tell':
      if (message.topic === 'agent.responses') onEnd(message.record);
      yield* parts.of(message);
      return message.topic === 'agent.responses';
  }
}

/**
 * The bytes of a stream and the headers that say what they are: server-sent events in the assistant transport format.
 */
export function encoded(chunks: AsyncIterable<AssistantStreamChunk>): {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
} {
  const encoder = new AssistantTransportEncoder();
  const headers = { ...Object.fromEntries(encoder.headers), 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  return { body: ReadableStream.from(chunks).pipeThrough(encoder), headers };
}
