import { ToolUnavailableError } from '@sluice/core';
import type { McpOffer, McpServer, PassedOnList } from '@sluice/core';
import { createConnectionBroker, credentialForServers, formsOf } from '@sluice/connections';
import { createMcpHub } from '@sluice/hub';
import type { McpHub, McpHubParts, WatchingHub } from '@sluice/hub';
import { apiSpan, mcpSpan, systemClock, withLogContext } from '@sluice/host';
import type { Environment, Log, Traces } from '@sluice/host';

interface Opened {
  readonly server: McpServer;
  readonly hub: WatchingHub;
  /** Calls under way, and questions what it offers. */
  users: number;
}

/**
 * The MCP servers of the configuration in force, behind one hub that lives as long as the process. A server whose
 * entry stays as it is keeps its connection; one that is changed or gone is let go when its last call has ended.
 */
export class McpServers implements WatchingHub {
  /** By their entries in the configuration, as JSON. */
  private readonly open = new Map<string, Opened>();
  private readonly leaving = new Set<Promise<void>>();
  private inForce: readonly Opened[] | null = null;
  /**
   * Those of the configuration that was compiled last: it may never come into force, and one of them may have to be
   * asked again.
   */
  private asked: readonly Opened[] = [];
  /** For what Sluice itself asks the servers; calls bring credentials of their own. */
  private readonly broker = createConnectionBroker({
    secret: (variable) => this.environment.secret(variable),
    clock: systemClock,
  });

  constructor(
    private readonly environment: Pick<Environment, 'forChild' | 'secret'>,
    private readonly log: Log,
    private readonly onChange: (server: string) => void,
    private readonly traces: Traces,
  ) {}

  /** Called with each call that was made: how long it took, and whether the server gave a result. */
  onCall: (server: string, isOk: boolean, seconds: number) => void = () => undefined;

  /** Called with each question that a server asked in the middle of a call, and how it was answered. */
  onQuestion: NonNullable<McpHubParts['onQuestion']> = () => undefined;

  /** Called when a server says that its resources or its prompts are others now. */
  onListChanged: (server: string, list: PassedOnList) => void = () => undefined;

  /** Called when a resource that is subscribed to may have changed. */
  onResourceUpdated: (server: string, uri: string) => void = () => undefined;

  /** From now on these servers are the ones that are called; calls under way at others go on. */
  use(servers: readonly McpServer[]): void {
    this.inForce = servers.map((server) => this.opened(server));
    this.letGo();
  }

  /** Asks these servers what they offer. Which ones are called stays as it is. */
  async offers(servers: readonly McpServer[]): Promise<readonly McpOffer[]> {
    this.asked = servers.map((server) => this.opened(server));
    this.letGo();
    return this.ask(this.asked);
  }

  /** What one of those in force offers now; null where there is none of this name. */
  async offerOf(id: string): Promise<McpOffer | null> {
    const [offer] = await this.ask(this.current().filter(({ server }) => server.id === id));
    return offer ?? null;
  }

  discover(): Promise<readonly McpOffer[]> {
    return this.ask(this.current());
  }

  /** The server learns in which trace the call stands: in `_meta`, or by the headers of an HTTP request. */
  call: McpHub['call'] = (id, tool, args, options) => {
    const opened = this.current().find(({ server }) => server.id === id);
    if (opened === undefined) return Promise.reject(new ToolUnavailableError(`No MCP server ${id} is configured.`));
    return this.traces.span(
      () =>
        options.operation === undefined ? mcpSpan(opened.server, tool) : apiSpan(opened.server, options.operation),
      () =>
        this.timed(id, () =>
          this.with(opened, (hub) => hub.call(id, tool, args, { ...options, trace: this.traces.headers() })),
        ),
    );
  };

  /** A call that cannot be sent counts as one that failed. */
  connect: McpHub['connect'] = async (id, tool, options) => {
    const opened = this.current().find(({ server }) => server.id === id);
    if (opened === undefined) throw new ToolUnavailableError(`No MCP server ${id} is configured.`);
    const began = performance.now();
    try {
      await this.with(opened, (hub) => hub.connect(id, tool, options));
    } catch (error) {
      this.onCall(id, false, (performance.now() - began) / 1_000);
      throw error;
    }
  };

  follow: WatchingHub['follow'] = (id, ...uris) => {
    for (const { server, hub } of this.current()) if (server.id === id) hub.follow(id, ...uris);
  };

  status: McpHub['status'] = () => this.current().flatMap(({ hub }) => hub.status());

  async close(): Promise<void> {
    await Promise.all([...[...this.open.values()].map(({ hub }) => hub.close()), ...this.leaving]);
  }

  /** Those in force; before any is, those that were asked. */
  private current(): readonly Opened[] {
    return this.inForce ?? this.asked;
  }

  private opened(server: McpServer): Opened {
    const entry = JSON.stringify(server);
    let opened = this.open.get(entry);
    if (opened === undefined) this.open.set(entry, (opened = { server, hub: this.create(server), users: 0 }));
    return opened;
  }

  private async ask(servers: readonly Opened[]): Promise<readonly McpOffer[]> {
    return (await Promise.all(servers.map((opened) => this.with(opened, (hub) => hub.discover())))).flat();
  }

  private async with<T>(opened: Opened, work: (hub: McpHub) => Promise<T>): Promise<T> {
    opened.users++;
    try {
      return await work(opened.hub);
    } finally {
      opened.users--;
      if (opened.users === 0 && !this.isWanted(opened.server)) this.letGo();
    }
  }

  private async timed<T>(server: string, call: () => Promise<T>): Promise<T> {
    const began = performance.now();
    let isOk = false;
    try {
      const value = await call();
      isOk = true;
      return value;
    } finally {
      this.onCall(server, isOk, (performance.now() - began) / 1_000);
    }
  }

  private isWanted(server: McpServer): boolean {
    return [...(this.inForce ?? []), ...this.asked].some((one) => one.server === server);
  }

  private letGo(): void {
    for (const [entry, { server, hub, users }] of this.open) {
      if (users > 0 || this.isWanted(server)) continue;
      this.open.delete(entry);
      const gone = hub
        .close()
        .catch((error: unknown) =>
          this.log.warn(
            { server: server.id, error: (error as Error).message },
            'a former MCP server could not be let go',
          ),
        )
        .finally(() => this.leaving.delete(gone));
      this.leaving.add(gone);
    }
  }

  private create(server: McpServer): WatchingHub {
    return createMcpHub([server], {
      environment: (names) => this.environment.forChild(names),
      credential: credentialForServers(this.broker),
      forms: formsOf,
      onChange: (id) => this.isWanted(server) && this.onChange(id),
      onListChanged: (id, list) => this.isWanted(server) && this.onListChanged(id, list),
      onResourceUpdated: (id, uri) => this.isWanted(server) && this.onResourceUpdated(id, uri),
      onQuestion: (...asked) => this.onQuestion(...asked),
      // Outside of any call’s trace: a server goes while some call happens to be under way.
      log: (id, message) => withLogContext({}, () => this.log.warn({ server: id }, message)),
    });
  }
}
