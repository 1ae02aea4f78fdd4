import { Client, ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { logLevels, printable, programVersion, ToolUnavailableError } from '@sluice/core';
import type { JsonObject, McpServer, PassedOnList } from '@sluice/core';
import { WatchedProcess, WatchedTransport } from './flood.js';
import { callEnded, HttpTransport } from './http-transport.js';
import { headersOf } from './header-arguments.js';
import type { McpServerState, McpServerStatus } from './hub.js';
import { LogRelay, logNotice } from './log-relay.js';
import { withTimeout } from './with-timeout.js';
import { OfferedNow } from './offered-now.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { Throttle } from './throttle.js';
import { ServerQuestions } from './server-questions.js';
import type { QuestionKind, QuestionOutcome } from './call-questions.js';
import { SseTransport } from './sse-transport.js';
import { StdioProcess } from './stdio-process.js';
import { CredentialRefusedError, isRefusal } from './refused.js';
import { lossProblem, reasonIn, silenceProblem, startProblem } from './start-problem.js';

export interface ConnectionParts {
  environment(names: readonly string[]): Record<string, string>;
  /** In how many forms a credential may be written, which are all kept out of the server's texts. */
  forms(token: string): readonly string[];
  /** The server is back after it was away, or says that its tools are others now. */
  onChange(): void;
  /** The server says that another of its lists is another one now. */
  onListChanged(list: PassedOnList): void;
  /** A resource that is subscribed to may have changed. */
  onResourceUpdated(uri: string): void;
  log(message: string): void;
  /** Called with each question that the server asked in the middle of a call. */
  onQuestion(kind: QuestionKind, outcome: QuestionOutcome): void;
}

/** Over which a server is spoken to. */
type AnyTransport = StdioProcess | HttpTransport | SseTransport;

/** How a server is connected to. */
interface Way {
  /**
   * How long it is waited for its answer which revisions it speaks, in milliseconds; null if it is known to speak an
   * older one.
   */
  readonly probeMs: number | null;
  /** Whether it has the transport that was before Streamable HTTP. */
  readonly isSse: boolean;
}

/** A process that does not know the question answers at once, or never. */
const silentMs = 1_000;
const firstRetryMs = 250;
const longestRetryMs = 30_000;
/** Up for this long, a server counts as well again, and its next loss as the first. */
const wellAfterMs = 10_000;
const probeMs = 5_000;
/** Shortest time between two words that its tools have changed: each has everything compiled again. */
const changeEveryMs = 5_000;
/** Lines outside the protocol that are logged of one connection, and how much of each. */
const noiseLines = 5;
const noiseCharacters = 300;
/** What a program of ours, too, is started with: how to get out of the house, and whom to trust there. */
const handedOn = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
const always = ['PATH', 'HOME', 'NODE_EXTRA_CA_CERTS', ...handedOn];
/** Shorter values of variables are words like "yes", which stand in every text. */
const shortestSecret = 6;

/**
 * One long-lived client for one server: started when first needed, started again after it was lost, with growing
 * pauses.
 */
export class McpConnection {
  private state: McpServerState = 'idle';
  private error: string | null = null;
  private client: Client | undefined;
  private transport: AnyTransport | undefined;
  /** How the server was last connected to; null when that is to be found out. */
  private known: Way | null = null;
  /** The outcome of the attempt under way or planned. */
  private next: PromiseWithResolvers<Client> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private retryAt = 0;
  private failures = 0;
  private connectedAt = 0;
  private missed = false;
  private probing = false;
  private readonly changed = new Throttle(changeEveryMs, () => this.isClosed() || this.given.onChange());
  private readonly lists = {
    resources: new Throttle(changeEveryMs, () => this.isClosed() || this.given.onListChanged('resources')),
    prompts: new Throttle(changeEveryMs, () => this.isClosed() || this.given.onListChanged('prompts')),
  };
  private readonly offered: OfferedNow;
  /** What the server asks while calls are under way. */
  readonly questions: ServerQuestions;
  private secrets: readonly string[];
  private refused = false;
  /** Why the client in use is dropped. */
  private dropping: string | null = null;
  /** Which call the log messages of the server in use are of. */
  readonly logs = new LogRelay();
  readonly resources: ResourceSubscriptions;
  private readonly hideSecrets = (text: string): string => this.hide(text);

  /** `token` is what this client authenticates with; null at a server that wants nothing. */
  constructor(
    readonly server: McpServer,
    private readonly given: ConnectionParts,
    private readonly token: string | null = null,
  ) {
    this.secrets = token === null ? [] : given.forms(token);
    this.offered = new OfferedNow(server, (client) => this.readsHeaders(client));
    this.resources = new ResourceSubscriptions({
      timeoutMs: server.startMs,
      connect: async () => this.acquire(server.startMs, new AbortController().signal),
      onUpdated: (uri) => this.isClosed() || given.onResourceUpdated(uri),
      log: (message) => this.log(message),
      reasonIn: (error) => reasonIn(error, this.hideSecrets),
    });
    this.questions = new ServerQuestions(server, {
      hide: this.hideSecrets,
      log: (message) => this.log(message),
      onQuestion: (kind, outcome) => given.onQuestion(kind, outcome),
      requestOf: (question) =>
        this.transport instanceof HttpTransport ? this.transport.requestOf(question) : undefined,
    });
  }

  /** Whether the server did not accept the credential: this client is of no more use. */
  get isRefused(): boolean {
    return this.refused;
  }

  status(): McpServerStatus {
    const { heldBack } = this.offered;
    const status = { server: this.server.id, state: this.state, error: this.error };
    return heldBack.length === 0 ? status : { ...status, heldBack };
  }

  /**
   * The client, once it is connected, at once if it is; ToolUnavailableError, its cause saying why, if that takes
   * longer or fails.
   */
  acquire(waitMs: number, signal: AbortSignal): Client | Promise<Client> {
    signal.throwIfAborted();
    if (this.refused) throw new CredentialRefusedError('The server refused this credential.');
    return this.client ?? this.connected(waitMs, signal);
  }

  /**
   * Whether the tool is known, without asking, to be what it was when it was allowed; it is if nothing was known of
   * it.
   */
  isHeldTo(tool: string, pin: string | null): boolean {
    return pin === null || this.offered.known(tool) === pin;
  }

  /**
   * The headers that carry arguments of a call as well, which servers of the newest revision may ask for over HTTP
   * (SEP-2243). Throws ToolUnavailableError where the tool asks for them in a way that the protocol does not permit:
   * it must not be called then.
   */
  async argumentHeaders(client: Client, tool: string, args: JsonObject): Promise<Readonly<Record<string, string>>> {
    if (!this.readsHeaders(client)) return {};
    const { id, startMs } = this.server;
    const { wanted, problems } = await this.offered.headerArguments(client, tool, startMs).catch((error: unknown) => {
      if (isRefusal(error)) throw error;
      throw new ToolUnavailableError(`The MCP server ${id} is not available now.`, { cause: error });
    });
    if (problems.length === 0) return headersOf(wanted, args);
    throw new ToolUnavailableError(`The MCP server ${id} asks for arguments of ${tool} as headers in a wrong way.`);
  }

  /** Whether this client sends arguments as headers, where a tool asks for them: over HTTP, in the newest revision. */
  readsHeaders(client: Client): boolean {
    return this.transport instanceof HttpTransport && client.getProtocolEra() === 'modern';
  }

  /** Whether each request says which log messages of the server are wanted: in the newest revision. */
  saysLevels(client: Client): boolean {
    return client.getProtocolEra() === 'modern';
  }

  /** Whether a call of the tool is to be a task of the server, of which only revision 2025-11-25 knows. */
  async runsAsTask(client: Client, tool: string): Promise<boolean> {
    const { tasks } = client.getServerCapabilities() ?? {};
    if (client.getProtocolEra() !== 'legacy' || tasks?.requests?.tools?.call === undefined) return false;
    const { id, startMs } = this.server;
    return this.offered.isTask(client, tool, startMs).catch((error: unknown) => {
      throw new ToolUnavailableError(`The MCP server ${id} is not available now.`, { cause: error });
    });
  }

  /** What the tool is held to now (OfferedNow). */
  pin(client: Client, tool: string): Promise<string | null> {
    return this.offered.pin(client, tool, this.server.startMs);
  }

  reportHeldBack(tool: string): void {
    if (!this.offered.isNews(tool)) return;
    const name = JSON.stringify(tool);
    this.log(
      `changed its tool ${name} since it was allowed; it is held back until the configuration is compiled again`,
    );
    // Not every server says when its tools change; who follows it takes the tool off the list now.
    this.changed.happened();
  }

  /**
   * A text of the server without the values of the variables it was given: a server may print them, out of
   * carelessness or worse.
   */
  hide(text: string): string {
    return this.secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  }

  /** Null where the server was given nothing to hide. */
  get hiding(): ((text: string) => string) | null {
    return this.secrets.length === 0 ? null : (text) => this.hide(text);
  }

  log(message: string): void {
    this.given.log(this.hide(message));
  }

  /** Makes the next successful connection call onChange: a request had to go without. */
  announceReturn(): void {
    if (this.state !== 'ready') this.missed = true;
  }

  /** Called when the server did not accept the credential. */
  refuse(): void {
    this.refused = true;
  }

  /** Gives this client up, if it is still the one in use: another one will be connected. `problem` says why. */
  async drop(client: Client, problem: string): Promise<void> {
    if (this.client !== client) return;
    this.dropping = problem;
    await this.transport?.close();
    this.lost(client);
    this.dropping = null;
  }

  /**
   * Why a request failed, as a sentence for operators: what became of the server, or what it said. `doing` stands
   * behind “The MCP server …”.
   */
  problemOf(error: unknown, doing: string): string {
    const code = error instanceof SdkError ? error.code : null;
    if (code === SdkErrorCode.RequestTimeout)
      return silenceProblem(this.server, this.server.startMs, this.transport, this.hideSecrets);
    if (code === SdkErrorCode.ConnectionClosed && this.error !== null) return this.error;
    return `The MCP server ${this.server.id} ${doing}: ${reasonIn(error, this.hideSecrets)}.`;
  }

  async close(): Promise<void> {
    this.state = 'closed';
    this.error = 'It is closed.';
    clearTimeout(this.timer);
    this.resources.stop();
    for (const throttle of [this.changed, ...Object.values(this.lists)]) throttle.stop();
    this.next?.reject(this.unavailable());
    const { client, transport } = this;
    this.client = undefined;
    if (transport instanceof HttpTransport && client !== undefined) await this.endSession(transport);
    await transport?.close();
  }

  private async connected(waitMs: number, signal: AbortSignal): Promise<Client> {
    if (this.state === 'closed' || (this.state === 'waiting' && this.retryAt - Date.now() > waitMs))
      throw this.unavailable();
    const { promise } = this.next ?? this.begin();
    const late = (): ToolUnavailableError =>
      this.unavailable(silenceProblem(this.server, waitMs, this.transport, this.hideSecrets));
    return withTimeout(promise, waitMs, signal, late);
  }

  private begin(): PromiseWithResolvers<Client> {
    const next = this.planned();
    this.state = 'connecting';
    // Every outcome goes into `next` and the state; no caller waits here.
    void this.connect(next);
    return next;
  }

  private planned(): PromiseWithResolvers<Client> {
    const next = Promise.withResolvers<Client>();
    next.promise.catch(() => undefined); // a caller that waits for it gets the error; there may be none
    this.next = next;
    return next;
  }

  private async connect(next: PromiseWithResolvers<Client>): Promise<void> {
    let problem: string | undefined;
    try {
      const client = await this.connectOnce(this.known ?? firstWay(this.server), (said) => (problem = said));
      client.onclose = () => this.lost(client);
      client.onerror = (error) => this.onError(client, error);
      this.ready(client, next);
      this.listenForChanges(client);
      this.askForLogs(client);
    } catch (error) {
      this.known = null;
      this.failed(problem ?? startProblem(this.server, undefined, error, this.hideSecrets), next, error);
    }
  }

  /**
   * One attempt, and further ones in other ways where the server shows that it knows no other. `onProblem` gets why
   * it failed.
   */
  private async connectOnce(way: Way, onProblem: (problem: string) => void): Promise<Client> {
    const client = this.newClient(way);
    let transport: AnyTransport | undefined;
    try {
      transport = this.transport = this.open(way.isSse);
      const prior = way.probeMs === null ? { prior: { kind: 'legacy' as const } } : {};
      await client.connect(this.watch(transport), { timeout: this.server.startMs, ...prior });
      if (this.isClosed()) throw new Error('It was closed.');
      this.known = client.getProtocolEra() === 'legacy' ? { probeMs: null, isSse: way.isSse } : way;
      return client;
    } catch (error) {
      const next = this.isClosed() ? null : otherWay(this.server, way, error);
      // Before we end it: afterwards, its own end could not be distinguished from that.
      const problem = startProblem(this.server, transport, error, this.hideSecrets);
      await transport?.close();
      if (next === null) {
        onProblem(problem);
        throw error;
      }
      return this.connectOnce(next, (said) => onProblem(next.isSse ? problem : said));
    }
  }

  private newClient({ probeMs }: Way): Client {
    const client = new Client(
      { name: 'sluice', version: programVersion },
      {
        capabilities: this.questions.capabilities,
        versionNegotiation: probeMs === null ? {} : { mode: 'auto', probe: { timeoutMs: probeMs } },
        // A call that wants input is sent again with it by create-hub.ts.
        inputRequired: { autoFulfill: false },
      },
    );
    this.questions.serve(client);
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.offered.forget();
      this.changed.happened();
    });
    for (const list of ['resources', 'prompts'] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => this.lists[list].happened());
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      if (this.client === client) this.resources.updated(params.uri);
    });
    client.setNotificationHandler('notifications/message', ({ params }) => {
      const notice = this.client === client ? logNotice(params, this.hideSecrets) : null;
      if (notice !== null) this.logs.said(notice);
    });
    return client;
  }

  /**
   * In the older revisions a server logs for its session, as much as was asked for last; each client of Sluice has a
   * level of its own, so the door chooses. A server that says it logs, and refuses, logs as it likes.
   */
  private askForLogs(client: Client): void {
    if (client.getProtocolEra() === 'modern' || client.getServerCapabilities()?.logging === undefined) return;
    void client.setLoggingLevel(logLevels[0], { timeout: this.server.startMs }).catch(() => undefined);
  }

  /** In the newer revisions a server speaks of changes to those who asked for it, over a stream of its own. */
  private listenForChanges(client: Client): void {
    if (client.getProtocolEra() !== 'modern') return;
    const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
    const filter = {
      ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
      ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    };
    if (Object.keys(filter).length === 0) return;
    const began = performance.now();
    void client
      .listen(filter, { timeout: this.server.startMs })
      .then(({ closed }) => closed)
      .catch((error: unknown) => {
        if (this.client === client)
          this.log(`does not say when its tools change: ${reasonIn(error, this.hideSecrets)}`);
        return 'local' as const;
      })
      .then((end) => {
        if (end === 'local' || this.client !== client || this.isClosed()) return;
        // What it said meanwhile is not known.
        this.offered.forget();
        const wait = Math.max(0, changeEveryMs - (performance.now() - began));
        setTimeout(() => this.client === client && this.listenForChanges(client), wait).unref();
      });
  }

  private open(isSse: boolean): AnyTransport {
    const { command, args, env, url, messageBytes } = this.server;
    if (command === null)
      return isSse
        ? new SseTransport(new URL(url ?? ''), this.token, messageBytes)
        : new HttpTransport(new URL(url ?? ''), this.token, messageBytes);
    const { connectionEnv } = this.server;
    const own = this.token === null || connectionEnv === undefined ? {} : { [connectionEnv]: this.token };
    const environment = { ...this.given.environment([...env, ...always]), ...own };
    const named = env.map((name) => environment[name] ?? '').filter((value) => value.length >= shortestSecret);
    const values = [...named, ...handedOn.flatMap((name) => credentialsIn(environment[name] ?? ''))];
    const forms = this.token === null ? [] : this.given.forms(this.token);
    this.secrets = [...forms, ...values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])];
    return new StdioProcess({ command, args, environment, ...(messageBytes === undefined ? {} : { messageBytes }) });
  }

  /** What the client is connected to. */
  private watch(transport: AnyTransport): Transport {
    const Watched = transport instanceof StdioProcess ? WatchedProcess : WatchedTransport;
    const watched = new Watched(transport, {
      onFlood: () => {
        this.log('sends more than a thousand unsolicited messages a second, and was cut off');
        if (transport instanceof StdioProcess)
          transport.kill('it sent more than a thousand unsolicited messages a second');
        else void transport.close();
      },
      onSend: (message) => this.questions.sent(message),
      onAnswer: (answer) => transport instanceof StdioProcess || transport.answered(answer),
    });
    if (!(transport instanceof StdioProcess)) return watched;
    let lines = 0;
    transport.onnoise = (line) => {
      watched.count();
      lines += 1;
      if (lines <= noiseLines) this.logNoise(line, lines === noiseLines);
    };
    return watched;
  }

  /** A server that prints for people goes on being of use, and its author should hear of it. */
  private logNoise(line: string, isLast: boolean): void {
    const shown = printable(this.hide(line).trim()).slice(0, noiseCharacters);
    const what = shown === '' ? 'an empty line' : `a line that is no JSON-RPC message: ${shown}`;
    const more = isLast ? ' (further lines are not logged)' : '';
    this.log(`wrote to its standard output, which was ignored, ${what}${more}`);
  }

  private ready(client: Client, next: PromiseWithResolvers<Client>): void {
    this.client = client;
    this.offered.forget();
    this.state = 'ready';
    this.error = null;
    this.connectedAt = Date.now();
    this.next = undefined;
    this.resources.connected(client);
    next.resolve(client);
    if (this.missed) {
      this.missed = false;
      this.log('is there again');
      this.changed.happened();
    }
  }

  private failed(problem: string, next: PromiseWithResolvers<Client>, cause: unknown): void {
    if (this.isClosed()) return;
    this.error = this.hide(problem);
    if (!this.missed) this.log(problem);
    next.reject(this.unavailable(undefined, cause));
    if (this.token !== null && isRefusal(cause)) this.refuse();
    else this.retryLater();
  }

  private lost(client: Client): void {
    if (this.client !== client || this.isClosed()) return;
    this.client = undefined;
    this.resources.lost();
    this.error = this.hide(this.dropping ?? lossProblem(this.server, this.transport, this.hideSecrets));
    this.log(this.error);
    if (Date.now() - this.connectedAt > wellAfterMs) this.failures = 0;
    this.retryLater();
  }

  private retryLater(): void {
    const delay = Math.min(firstRetryMs * 2 ** this.failures, longestRetryMs);
    this.failures += 1;
    this.missed = true;
    this.state = 'waiting';
    this.retryAt = Date.now() + delay;
    const next = this.planned();
    this.timer = setTimeout(() => {
      this.state = 'connecting';
      void this.connect(next);
    }, delay);
    this.timer.unref();
  }

  /**
   * Over HTTP nothing closes when the server dies; a stream that breaks is the sign to ask whether it is still there.
   */
  private onError(client: Client, error: Error): void {
    if (this.transport instanceof SseTransport) this.transport.closeOnError(error);
    if (
      this.client !== client ||
      this.probing ||
      this.server.url === null ||
      !/SSE stream|reconnect/i.test(error.message) ||
      error.message.includes(callEnded)
    )
      return;
    this.probing = true;
    const probe =
      client.getProtocolEra() === 'modern' ? client.discover({ timeout: probeMs }) : client.ping({ timeout: probeMs });
    void probe
      .catch((reason: unknown) => this.drop(client, this.problemOf(reason, 'is not there any more')))
      .finally(() => {
        this.probing = false;
      });
  }

  private async endSession(transport: HttpTransport): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, 1_000).unref());
    const ended = transport
      .terminateSession()
      .catch((error: unknown) => this.log(`did not end its session: ${String(error)}`));
    await Promise.race([ended, late]);
  }

  private isClosed(): boolean {
    return this.state === 'closed';
  }

  /** What a model may read says no more than that; the cause is for operators. */
  private unavailable(detail = this.error ?? 'It has not been started.', cause?: unknown): ToolUnavailableError {
    return new ToolUnavailableError(`The MCP server ${this.server.id} is not available now.`, {
      cause: new Error(detail, { cause }),
    });
  }
}

function firstWay({ command, startMs }: McpServer): Way {
  return { probeMs: command === null ? startMs : Math.min(silentMs, startMs / 2), isSse: false };
}

/**
 * How to go on after a failed attempt, where the server shows that it may speak in another way; null if it does not.
 */
function otherWay({ command, startMs }: McpServer, way: Way, error: unknown): Way | null {
  const { probeMs, isSse } = way;
  if (command === null) {
    const refused = error instanceof SdkHttpError && [400, 404, 405].includes(error.status);
    return refused && !isSse ? { probeMs: null, isSse: true } : null;
  }
  if (probeMs === null) return null;
  // It ended when it read what it does not know; started again, it is spoken to as it expects.
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed) return { probeMs: null, isSse };
  // It was slow to start, and speaks no older revision.
  return error instanceof ProtocolError && probeMs < startMs ? { probeMs: startMs, isSse } : null;
}

/** Of a proxy's address: user and password, as they stand in it and as they are meant. */
function credentialsIn(address: string): readonly string[] {
  const userinfo = /^(?:[a-z]+:\/\/)?([^/?#]*)@/i.exec(address)?.[1];
  if (userinfo === undefined) return [];
  const password = userinfo.slice(userinfo.indexOf(':') + 1);
  return [userinfo, password, decoded(password)].filter((value) => value.length >= shortestSecret);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
