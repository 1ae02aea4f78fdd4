import { fetch } from 'undici';
import type { Agent } from 'undici';
import { isJsonObject } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { guardedConnect } from '@sluice/isolation';
import type { GuardedConnect } from '@sluice/isolation';

/** Why Slack did not do what it was asked. */
export class SlackError extends Error {
  override readonly name = 'SlackError';
  /** @param code Slack’s own, or `http_<status>`, `unreachable`, `timeout`, `not_public`, `no_json`. */
  constructor(
    readonly code: string,
    message: string,
    /** After how many seconds it may be asked again; null where it does not say. */
    readonly retryAfter: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

const answerMs = 10_000;
const longestAnswer = 4 * 1_024 * 1_024;
const connections = 4;

/** Asks Slack’s Web API, on the public internet or at a host that notify.private_hosts names. */
export class SlackApi {
  private readonly guard: GuardedConnect;
  private readonly agent: Agent;

  constructor(privateHosts: readonly string[]) {
    this.guard = guardedConnect(privateHosts, undefined, 'notify.private_hosts');
    this.agent = this.guard.agent(connections);
  }

  /** Calls a method, such as `chat.postMessage`; resolves with the answer. Throws SlackError. */
  async call(
    method: string,
    { apiUrl, token }: { readonly apiUrl: string; readonly token: string },
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const url = new URL(method, apiUrl);
    const why = this.guard.problemOf(url);
    if (why !== null) throw new SlackError('not_public', why);
    const limit = AbortSignal.timeout(answerMs);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' };
    const sent = { dispatcher: this.agent, method: 'POST', headers, body: JSON.stringify(body) };
    try {
      const response = await fetch(url, { ...sent, redirect: 'manual', signal: AbortSignal.any([signal, limit]) });
      const retryAfter = secondsIn(response.headers.get('retry-after'));
      if (!response.ok) {
        await response.body?.cancel();
        throw new SlackError(
          `http_${String(response.status)}`,
          `Slack answered ${String(response.status)}.`,
          retryAfter,
        );
      }
      return answerIn(await textOf(response.body), method);
    } catch (error) {
      if (error instanceof SlackError) throw error;
      signal.throwIfAborted();
      const refused = this.guard.whyOf(error);
      if (refused !== null) throw new SlackError('not_public', refused);
      const code = limit.aborted ? 'timeout' : 'unreachable';
      throw new SlackError(code, `${url.host} did not answer.`, null, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > longestAnswer) throw new SlackError('no_json', 'Slack’s answer is too long.');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Slack answers 200 with `ok: false` too. */
function answerIn(text: string, method: string): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw new SlackError('no_json', 'Slack’s answer is no JSON.', null, { cause: error });
  }
  if (!isJsonObject(answer as JsonObject)) throw new SlackError('no_json', 'Slack’s answer is no object.');
  const { ok, error } = answer as JsonObject;
  if (ok === true) return answer as JsonObject;
  const code = typeof error === 'string' && /^\w{1,100}$/.test(error) ? error : 'unknown';
  throw new SlackError(code, `Slack refused ${method}: ${code}.`);
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;
}
