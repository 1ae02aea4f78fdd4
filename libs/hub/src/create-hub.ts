import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, InputRequiredResult, ProgressCallback } from '@modelcontextprotocol/client';
import {
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import {
  logLevels,
  textModeByDefault,
  JsonTooLargeError,
  neverSent,
  ToolAnswerUnreadableError,
  ToolFailedError,
  ToolHeldBackError,
  ToolOutcomeLostError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
  ToolWaitsError,
} from '@sluice/core';
import type { JsonObject, JsonValue, McpOffer, McpServer, PassedOnList } from '@sluice/core';
import { TooLargeAnswer } from './http-answer.js';
import { answerOf, blocksOf, NoResultError, resultIn, saysAll, shortened, valueOf } from './call-result.js';
import { callAsCaller, offerToSluice } from './call-as-caller.js';
import { CallTime } from './call-time.js';
import { McpClients } from './clients.js';
import { McpConnection } from './connection.js';
import { tooLargeCode } from './http-transport.js';
import { malformedCode } from './message.js';
import type { McpCallOptions, McpConnectOptions, WatchingHub } from './hub.js';
import { offerOf } from './offer.js';
import { passedOn } from './passed-on.js';
import { isRefusal } from './refused.js';
import { runAsTask } from './run-as-task.js';
import { ParkedQuestion, RefusedQuestion } from './server-questions.js';
import type { QuestionKind, QuestionOutcome } from './call-questions.js';
import { withoutCode } from './start-problem.js';

export interface McpHubParts {
  /**
   * The values of these environment variables, as far as they are set: all a child gets of ours, beside PATH and
   * HOME.
   */
  environment(names: readonly string[]): Record<string, string>;
  /**
   * Called when a server is there that was not, and when one says that its tools have changed: ask again with
   * discover().
   */
  onChange(server: string): void;
  /** Called when a server says that its resources or its prompts are others now, at most once in five seconds. */
  onListChanged?(server: string, list: PassedOnList): void;
  /** Called when a resource that is subscribed to may have changed, at most once in a second of each. */
  onResourceUpdated?(server: string, uri: string): void;
  /**
   * What Sluice itself shows a server that wants a connection, when it asks what the server offers; rejects with a
   * sentence where there is none.
   */
  credential?(server: McpServer, refused?: string): Promise<string>;
  /** The forms in which a credential may be written; by default as it is. */
  forms?(token: string): readonly string[];
  /** How long an unused client for a credential is kept, in milliseconds. Default 300,000. */
  readonly idleMs?: number;
  /** Called with each question that a server asked in the middle of a call, and how it was answered. */
  onQuestion?(server: string, kind: QuestionKind, outcome: QuestionOutcome): void;
  /** Called once when a server goes and once when it is back. */
  log?(server: string, message: string): void;
}

/** Connects to MCP servers over stdio and Streamable HTTP. Nothing is started before the first discover() or call(). */
export function createClientHub(servers: readonly McpServer[], given: McpHubParts): WatchingHub {
  const ways = new Map(servers.map((server) => [server.id, wayTo(server, given)]));
  const later = new Map<string, NodeJS.Timeout>();

  /**
   * Who could not be asked with Sluice's own credential is asked again by and by: nothing else would tell that it is
   * there now.
   */
  async function offerOfClients(clients: McpClients): Promise<McpOffer> {
    const { id } = clients.server;
    const offer = await offerToSluice(clients, (server, refused) => credentialOf(server, given, refused));
    clearTimeout(later.get(id));
    if ('error' in offer) later.set(id, setTimeout(() => given.onChange(id), askAgainMs).unref());
    return offer;
  }

  return {
    discover: (): Promise<readonly McpOffer[]> =>
      Promise.all([...ways.values()].map((way) => (way instanceof McpClients ? offerOfClients(way) : offerOf(way)))),
    connect: async (server, tool, options) => {
      const way = ways.get(server);
      if (way === undefined) throw new ToolUnavailableError(`No MCP server ${server} is configured.`);
      const connect = async (connection: McpConnection, own: McpConnectOptions): Promise<void> =>
        void (await readyClient(connection, tool, own, own.timeoutMs));
      return way instanceof McpClients ? callAsCaller(way, options, connect) : connect(way, options);
    },
    call: (server, tool, args, options) => {
      const way = ways.get(server);
      if (way === undefined) return Promise.reject(new ToolUnavailableError(`No MCP server ${server} is configured.`));
      if (!(way instanceof McpClients)) return call(way, tool, args, options);
      return callAsCaller(way, options, (connection, own) => call(connection, tool, args, own));
    },
    follow: (server, uris, isLate) => {
      const way = ways.get(server);
      if (way instanceof McpConnection) way.resources.follow(uris, isLate);
    },
    status: () => [...ways.values()].map((way) => way.status()),
    close: async () => {
      for (const timer of later.values()) clearTimeout(timer);
      await Promise.all([...ways.values()].map((way) => way.close()));
    },
  };
}

/** What a call answers is checked by resultIn. */
const anything = z.unknown();
const idleByDefaultMs = 300_000;
/** How often a call may want input, and the pause before one is sent again that wants nothing but time. */
const mostRounds = 10;
const pauseMs = 250;
/** The longest time that a timer takes. */
const longestMs = 2_147_483_647;
const askAgainMs = 30_000;

/** One client for all, or one for each credential. */
function wayTo(server: McpServer, given: McpHubParts): McpConnection | McpClients {
  const parts = {
    environment: (names: readonly string[]) => given.environment(names),
    forms: (token: string) => given.forms?.(token) ?? [token],
    onChange: () => given.onChange(server.id),
    onListChanged: (list: PassedOnList) => given.onListChanged?.(server.id, list),
    onResourceUpdated: (uri: string) => given.onResourceUpdated?.(server.id, uri),
    log: (message: string) => given.log?.(server.id, message),
    onQuestion: (kind: QuestionKind, outcome: QuestionOutcome) => given.onQuestion?.(server.id, kind, outcome),
  };
  if (server.connection === undefined) return new McpConnection(server, parts);
  return new McpClients(server, parts, given.idleMs ?? idleByDefaultMs);
}

async function credentialOf(server: McpServer, given: McpHubParts, refused?: string): Promise<string> {
  if (given.credential === undefined)
    throw new Error(`The MCP server ${server.id} wants a credential, and there are none here.`);
  return given.credential(server, refused);
}

async function call(
  connection: McpConnection,
  tool: string,
  args: JsonObject,
  options: McpCallOptions,
): Promise<JsonValue> {
  const time = new CallTime(options.timeoutMs);
  try {
    const { idempotencyKey: key, answers } = options;
    return await connection.questions.during({ key, answers, time }, (asking) =>
      callWithin({ connection, tool, args, options, time, asking }),
    );
  } finally {
    time.stop();
  }
}

type Asking = Parameters<Parameters<McpConnection['questions']['during']>[1]>[0];

/** A call, its time, and who answers in the middle of it. */
interface Call {
  readonly connection: McpConnection;
  readonly tool: string;
  readonly args: JsonObject;
  readonly options: McpCallOptions;
  readonly time: CallTime;
  readonly asking: Asking;
}

async function callWithin(given: Call): Promise<JsonValue> {
  const { connection, tool, options, time } = given;
  const client = await readyClient(connection, tool, options, time.left());
  try {
    return await request(client, given);
  } catch (error) {
    options.signal.throwIfAborted();
    if (isRefusedCredential(connection, error)) throw error;
    if (neverSent(error)) {
      await connection.drop(client, connection.problemOf(error, 'cannot be reached'));
      throw new ToolUnavailableError(`The MCP server ${connection.server.id} is not available now.`, { cause: error });
    }
    if (!isForgottenSession(error)) throw thrownFor(error, tool, options.timeoutMs, connection);
    // The server was restarted and refused the old session without looking at the call, so it may be sent again.
    await connection.drop(client, `The MCP server ${connection.server.id} no longer knows its session.`);
    const other = await readyClient(connection, tool, options, time.left());
    try {
      return await request(other, given);
    } catch (again) {
      options.signal.throwIfAborted();
      if (isRefusedCredential(connection, again)) throw again;
      throw thrownFor(again, tool, options.timeoutMs, connection);
    }
  }
}

/** The client of a server that offers the tool as it was allowed. Nothing of a call is sent. */
async function readyClient(
  connection: McpConnection,
  tool: string,
  { pin, signal }: McpConnectOptions,
  waitMs: number,
): Promise<Client> {
  const client = await connection.acquire(Math.min(waitMs, connection.server.startMs), signal);
  if (!connection.isHeldTo(tool, pin)) await holdTo(connection, client, tool, pin);
  return client;
}

/** Throws, before anything is sent, if the tool is not what it was when it was allowed, or that is unknown. */
async function holdTo(connection: McpConnection, client: Client, tool: string, pin: string | null): Promise<void> {
  const { id } = connection.server;
  let now: string | null;
  try {
    now = await connection.pin(client, tool);
  } catch (error) {
    if (isRefusedCredential(connection, error)) throw error;
    throw new ToolUnavailableError(`The MCP server ${id} is not available now.`, { cause: error });
  }
  if (now === pin) return;
  connection.reportHeldBack(tool);
  throw new ToolHeldBackError(`The MCP server ${id} has changed this tool since it was allowed.`);
}

async function request(client: Client, given: Call): Promise<JsonValue> {
  const { connection, tool, args, options, time } = given;
  // The SDK’s own time goes on while a person is asked.
  const bounds = { signal: AbortSignal.any([options.signal, time.signal]), timeout: longestMs };
  if (options.kind !== undefined) {
    const { kind, onAnswer } = options;
    const mode = connection.server.descriptions ?? textModeByDefault;
    const subscribe = (uri: string): Promise<void> => connection.resources.add(client, uri);
    return passedOn(client, kind, tool, args, bounds, { hide: connection.hiding, mode, onAnswer, subscribe });
  }
  const ended = connection.logs.begin(options.caller ?? '', options.onNotice);
  const result = resultIn(await answered(client, given, bounds).finally(ended));
  const { blocks, onAnswer } = options;
  const { hiding } = connection;
  if (blocks?.besides === true) {
    const besides = blocksOf(result, blocks.kinds);
    if (besides.length > 0) onAnswer?.(answerOf({ content: besides }, hiding));
    return valueOf({ ...result, content: blocksOf(result, ['text']) }, hiding);
  }
  const value = valueOf(result, hiding, blocks?.kinds);
  if (onAnswer !== undefined && !saysAll(value, result)) onAnswer(answerOf(result, hiding, blocks?.kinds));
  return value;
}

/** Progress as a notice; what the SDK lets through without a number is none. */
function progressTo(onNotice: NonNullable<McpCallOptions['onNotice']>, connection: McpConnection): ProgressCallback {
  return ({ progress, total = null, message = '' }) =>
    onNotice({ kind: 'progress', progress, total, message: connection.hide(message) });
}

/** What the tool answered. A call whose result wants input is sent again with it, and what else the result says. */
async function answered(
  client: Client,
  { connection, tool, args, options, asking, time }: Call,
  bounds: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<unknown> {
  const { onNotice } = options;
  const _meta = {
    ...{ 'sluice/idempotency-key': options.idempotencyKey, ...options.trace },
    ...(onNotice !== undefined && connection.saysLevels(client) ? { [LOG_LEVEL_META_KEY]: logLevels[0] } : {}),
  };
  const heard = onNotice === undefined ? {} : { onprogress: progressTo(onNotice, connection) };
  const headers = await connection.argumentHeaders(client, tool, args);
  let reports = 0;
  if (await connection.runsAsTask(client, tool))
    return runAsTask(client, {
      ...{ params: { name: tool, arguments: args, task: {}, _meta }, headers, ...bounds },
      onTask: (id) => void asking.tasks.add(id),
      reconnect: () => connection.acquire(Math.min(time.left(), connection.server.startMs), options.signal),
      onStatus: (message) =>
        onNotice?.({ kind: 'progress', progress: ++reports, total: null, message: connection.hide(message) }),
    });
  let more = {};
  const parked = options.answers?.resume as Parked | undefined;
  asking.asked = parked?.asked ?? 0;
  for (let round = parked?.round ?? 0; round <= mostRounds; round++) {
    const isResumed = parked !== undefined && round === parked.round;
    const answer = isResumed
      ? parked.wanted
      : await client.request(
          { method: 'tools/call', params: { name: tool, arguments: args, ...more, _meta } },
          anything,
          { ...bounds, headers, ...heard, allowInputRequired: true },
        );
    if (!isInputRequiredResult(answer)) return answer;
    const inputResponses = await answersTo(answer, isResumed ? parked.answers : {}, round, asking, connection);
    const { requestState } = answer;
    more = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
    // A server that only says “later” is not asked without a pause.
    if (Object.keys(inputResponses).length === 0) await sleep(pauseMs);
    bounds.signal.throwIfAborted();
  }
  throw new RefusedQuestion('limit', `The server wanted input more than ${mostRounds} times in one call.`);
}

/** What a call that was parked goes on with. */
interface Parked {
  readonly wanted: InputRequiredResult;
  /** The answers that there are to it. */
  readonly answers: JsonObject;
  /** How often the server had wanted input before, and how many questions it has asked. */
  readonly round: number;
  readonly asked: number;
}

async function answersTo(
  wanted: InputRequiredResult,
  given: JsonObject,
  round: number,
  asking: Asking,
  { questions }: McpConnection,
): Promise<JsonObject> {
  try {
    return await questions.answersTo(wanted, asking, given);
  } catch (error) {
    if (!(error instanceof ParkedQuestion)) throw error;
    // Who goes on asks the question that waits once more, and counts it then.
    const parked: Parked = { wanted, answers: error.answers, round, asked: asking.asked - 1 };
    throw new ToolWaitsError(parked as unknown as JsonObject);
  }
}

/** What to throw for a call that was sent: what the server says is for the model; why an answer was lost is unknown. */
function thrownFor(error: unknown, tool: string, timeoutMs: number, connection: McpConnection): unknown {
  if (error instanceof ToolUserError || error instanceof ToolUnavailableError || error instanceof ToolWaitsError)
    return error;
  if (error instanceof RefusedQuestion)
    return new ToolFailedError(`The tool wants input in the middle of its call. ${error.message}`, { cause: error });
  if (error instanceof NoResultError)
    return new ToolAnswerUnreadableError(`What ${tool} answered is no result of a tool.`, { cause: error });
  if (error instanceof TooLargeAnswer) return new JsonTooLargeError(error.message, { cause: error });
  if (error instanceof ProtocolError) return thrownForAnswer(error, tool, connection);
  switch (error instanceof SdkError ? error.code : null) {
    case SdkErrorCode.RequestTimeout:
      return new ToolTimeoutError(`The tool ${tool} did not answer within ${timeoutMs / 1000} s.`, { cause: error });
    case SdkErrorCode.ConnectionClosed:
      return new ToolOutcomeLostError(`The connection was lost while ${tool} ran.`, { cause: error });
    default:
      return new ToolOutcomeLostError(`No answer came from ${tool}.`, { cause: error });
  }
}

/** For a call that the server answered with an error in place of a result. */
function thrownForAnswer(error: ProtocolError, tool: string, connection: McpConnection): Error {
  const said = withoutCode(error.message);
  switch (error.code) {
    case tooLargeCode:
      return new JsonTooLargeError(said, { cause: error });
    case ProtocolErrorCode.InvalidParams:
    case ProtocolErrorCode.MethodNotFound:
      return new ToolUserError(connection.hide(shortened(`The server refused the call: ${said}`)), { cause: error });
    case malformedCode:
      return new ToolAnswerUnreadableError(`What ${tool} answered is no message.`, { cause: error });
    default: {
      connection.log(`answered a call of ${tool} with the error ${String(error.code)}: ${shortened(said)}`);
      const why = said.trim() === '' ? ' and did not say why.' : `: ${asSentence(connection.hide(shortened(said)))}`;
      return new ToolFailedError(`The server answered with an error${why}`, { cause: error });
    }
  }
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Whether the server refused the credential; then the client is of no more use, and the call was not looked at. */
function isRefusedCredential(connection: McpConnection, error: unknown): boolean {
  if (connection.server.connection === undefined || !isRefusal(error)) return false;
  connection.refuse();
  return true;
}

function isForgottenSession(error: unknown): boolean {
  return error instanceof SdkHttpError && (error.status === 404 || error.status === 400);
}
