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

/** Tells the gateways how the MCP servers stand, and what those offer now whose tools are withheld. */
export class ServerReporter {
  private readonly timer: NodeJS.Timeout;
  private readonly seen = new Map<string, Seen>();
  private readonly changed = new Map<string, { readonly at: number; readonly tools: readonly ChangedTool[] }>();
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
    for (const { server, state } of states) if (state === 'ready') await this.look(server, now);
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

  /** Asks a server whose tools are withheld what these are now. */
  private async look(server: string, now: number): Promise<void> {
    const { tools } = this.runtime.configurations.current().configuration;
    const withheld = new Set(
      tools.flatMap(({ mcp, spec }) =>
        mcp?.server === server && mcp.kind === undefined && spec === null ? [mcp.tool] : [],
      ),
    );
    if (withheld.size === 0) return void this.changed.delete(server);
    if (now - (this.changed.get(server)?.at ?? 0) < askAgainMs) return;
    const offer = await this.servers.offerOf(server);
    const offered = offer === null || 'error' in offer ? [] : offer.tools;
    this.changed.set(server, {
      at: now,
      tools: offered
        .filter(({ name }) => withheld.has(name))
        .map((tool) => ({
          ...{ name: tool.name, pin: pinOf(tool, sha256), description: tool.description },
          inputSchema: JSON.stringify(tool.inputSchema),
        })),
    });
  }
}
