import { AssistantMessageAccumulator, AssistantTransportDecoder } from 'assistant-stream';
import type { AssistantMessage } from 'assistant-stream';

export interface Gateway {
  readonly url: string;
  /** The credential; where no identity is configured the local secret, which only decisions on calls need here. */
  readonly token?: string | undefined;
}

/** Of an AgentRequest, what this example sends. */
export interface Question {
  readonly question: string;
  readonly session_id: string;
  readonly group?: readonly string[];
}

/**
 * Starts a run and gives its message as it grows, read by the published decoder of the stream. Where the signal stops
 * it, the run is cancelled.
 */
export async function* runMessages(
  gateway: Gateway,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<AssistantMessage, void, undefined> {
  const response = await send(gateway, '/v1/runs', question, { accept: 'text/event-stream' }, signal);
  if (response.body === null) throw new Error('The answer has no body.');
  const states = response.body
    .pipeThrough(new AssistantTransportDecoder() as ReadableWritablePair<never, Uint8Array>)
    .pipeThrough(new AssistantMessageAccumulator())
    .getReader();
  let place: RunPlace | null = null;
  try {
    for (;;) {
      const { done, value } = await states.read();
      if (done) return;
      place ??= placeIn(value);
      yield value;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    if (signal.aborted && place !== null) await cancel(gateway, place);
    await states.cancel().catch(() => undefined);
  }
}

/** Decides on a call that waits; `asked` is what the part `approval_requested` holds. */
export async function decide(gateway: Gateway, asked: object, decision: 'approve' | 'refuse'): Promise<void> {
  await send(gateway, '/v1/approvals', { ...asked, decision });
}

interface RunPlace {
  readonly request_id: string;
  readonly session_id: string;
  readonly since: number;
  /** Opens the run where no identity is configured. */
  readonly token?: string;
}

/** The first part of a run’s message says where the run is. */
function placeIn({ parts }: AssistantMessage): RunPlace | null {
  const part = parts.find((one) => one.type === 'data' && one.name === 'run');
  return part?.type === 'data' ? (part.data as unknown as RunPlace) : null;
}

async function cancel(gateway: Gateway, { request_id, session_id, since, token }: RunPlace): Promise<void> {
  const query = new URLSearchParams({ session_id, since: String(since), ...(token === undefined ? {} : { token }) });
  await send(gateway, `/v1/runs/${encodeURIComponent(request_id)}/cancel?${query.toString()}`, {});
}

async function send(
  { url, token }: Gateway,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  const credential: Readonly<Record<string, string>> = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential, ...headers },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response;
  // A problem of RFC 9457 says what to change.
  const problem = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  throw new Error(problem.detail ?? `The gateway answered with ${response.status}.`);
}
