import { pinOf } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { reportServers } from '@sluice/run';
import type { ChangedTool, ServerReport } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import type { McpServers } from './mcp-servers.js';

/** How often it looks, and how often it writes where nothing changes, milliseconds. */
const everyMs = 2_000;
const writeAgainMs = 10_000;
/** How often a server is asked what it offers while some of its tools are withheld, milliseconds. */
const askAgainMs = 30_000;

interface Seen {
  readonly state: string;
  readonly error: string | null;
  readonly since: number;
}

interface Changed {
  readonly at: number;
  /** Which tools were looked at, and what they were allowed as. */
  readonly of: string;
  readonly tools: readonly ChangedTool[];
}

/** Tells the gateways how the MCP servers stand, and what those offer now whose tools are withheld. */
export class ServerReporter {
  private readonly timer: NodeJS.Timeout;
  private readonly seen = new Map<string, Seen>();
  private readonly changed = new Map<string, Changed>();
  private working: Promise<void> | undefined;
  private written = '';
  private writtenAt = 0;

  constructor(
    private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'documents' | 'environment' | 'log'>,
    private readonly servers: Pick<McpServers, 'status' | 'offerOf'>,
  ) {
    this.timer = setInterval(() => {
      this.working ??= this.report()
        .catch((error: unknown) =>
          runtime.log.debug({ error: (error as Error).message }, 'how MCP servers stand cannot be reported'),
        )
        .finally(() => (this.working = undefined));
    }, everyMs);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.working;
    const { clock, documents, environment } = this.runtime;
    if (this.written !== '') await reportServers(documents, environment.instance, null, clock.now()).catch(() => undefined); // prettier-ignore
  }

  private async report(): Promise<void> {
    const { clock, documents, environment } = this.runtime;
    const now = clock.now();
    const states = this.servers.status();
    if (states.length === 0 && this.written === '') return;
    for (const { server, state, error } of states) {
      const before = this.seen.get(server);
      if (before?.state !== state || before.error !== error) this.seen.set(server, { state, error, since: now });
    }
    for (const { server, state, heldBack = [] } of states)
      if (state === 'ready') await this.look(server, heldBack, now);
    const reports = states.map(({ server, state, error }): ServerReport => {
      const { since = now } = this.seen.get(server) ?? {};
      return { server, state, error, since, changed: this.changed.get(server)?.tools ?? [] };
    });
    const text = JSON.stringify(reports);
    if (text === this.written && now - this.writtenAt < writeAgainMs) return;
    await reportServers(documents, environment.instance, reports, now);
    this.written = text;
    this.writtenAt = now;
  }

  /**
   * Asks a server what the tools are now that the configuration withholds, and those whose calls were refused since
   * they changed: where no process follows the configuration’s file, it withholds them only once it is compiled again.
   */
  private async look(server: string, refused: readonly string[], now: number): Promise<void> {
    const { tools } = this.runtime.configurations.current().configuration;
    // By name, the pin that it was allowed with; null where it is withheld.
    const lookedAt = new Map(
      tools.flatMap(({ mcp, spec }): [string, string | null][] => {
        if (mcp?.server !== server || mcp.kind !== undefined) return [];
        if (spec === null) return [[mcp.tool, null]];
        return mcp.pin !== null && refused.includes(mcp.tool) ? [[mcp.tool, mcp.pin]] : [];
      }),
    );
    if (lookedAt.size === 0) return void this.changed.delete(server);
    const of = JSON.stringify([...lookedAt]);
    const before = this.changed.get(server);
    if (before?.of === of && now - before.at < askAgainMs) return;
    const offer = await this.servers.offerOf(server);
    const offered = offer === null || 'error' in offer ? [] : offer.tools;
    this.changed.set(server, {
      ...{ at: now, of },
      tools: offered
        .filter(({ name }) => lookedAt.has(name))
        .map((tool) => ({
          ...{ name: tool.name, pin: pinOf(tool, sha256), description: tool.description },
          inputSchema: JSON.stringify(tool.inputSchema),
        }))
        .filter(({ name, pin }) => lookedAt.get(name) !== pin),
    });
  }
}
