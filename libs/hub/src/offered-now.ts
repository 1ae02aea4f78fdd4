import type { Client } from '@modelcontextprotocol/client';
import type { McpServer, OfferedTool } from '@sluice/core';
import { headerArgumentsIn } from './header-arguments.js';
import type { HeaderArguments } from './header-arguments.js';
import { listTools, pinIn } from './listed-tools.js';

interface Listed {
  readonly tools: readonly OfferedTool[];
  readonly tasks: ReadonlySet<string>;
  readonly pins: Map<string, string | null>;
  readonly headers: Map<string, HeaderArguments>;
}

/**
 * What a server offers at present: asked for when a call needs to know, forgotten when the server says that it
 * changed.
 */
export class OfferedNow {
  private listed: Promise<Listed> | undefined;
  /** What has been found of `listed`. */
  private pins: ReadonlyMap<string, string | null> | undefined;
  private readonly reported = new Set<string>();

  /** `readsHeaders` says whether the server of a client gets arguments as headers, where its tools ask for them. */
  constructor(
    private readonly server: Pick<McpServer, 'mostTools'>,
    private readonly readsHeaders: (client: Client) => boolean,
  ) {}

  /** Another client, or other tools. */
  forget(): void {
    this.listed = undefined;
    this.pins = undefined;
  }

  /** What a tool is held to, as far as it was asked for before; undefined if it was not. */
  known(tool: string): string | null | undefined {
    return this.pins?.get(tool);
  }

  /**
   * What the tool is held to now: the same as when it was allowed, or it is not called. Null if there is no such tool
   * that could be allowed. Rejects if the server does not say within so many milliseconds.
   */
  async pin(client: Client, tool: string, withinMs: number): Promise<string | null> {
    const listed = this.ask(client, withinMs);
    const { tools, pins } = await listed;
    let pin = pins.get(tool);
    if (pin === undefined) pins.set(tool, (pin = pinIn(tools, tool)));
    if (this.listed === listed) this.pins = pins;
    return pin;
  }

  /** The arguments that the tool wants as headers too. Rejects as `pin` does. */
  async headerArguments(client: Client, tool: string, withinMs: number): Promise<HeaderArguments> {
    const { tools, headers } = await this.ask(client, withinMs);
    let found = headers.get(tool);
    if (found === undefined)
      headers.set(tool, (found = headerArgumentsIn(tools.find(({ name }) => name === tool)?.inputSchema ?? {})));
    return found;
  }

  /** Whether the tool runs as a task of the server, and in no other way. Rejects as `pin` does. */
  async isTask(client: Client, tool: string, withinMs: number): Promise<boolean> {
    return (await this.ask(client, withinMs)).tasks.has(tool);
  }

  private ask(client: Client, withinMs: number): Promise<Listed> {
    if (this.listed !== undefined) return this.listed;
    const listed = listTools(client, Date.now() + withinMs, this.server, this.readsHeaders(client)).then(
      ({ tools, tasks }) => ({
        ...{ tools, tasks, pins: new Map(), headers: new Map() },
      }),
    );
    this.listed = listed;
    listed.catch(() => {
      if (this.listed === listed) this.listed = undefined;
    });
    return listed;
  }

  /** The tools that were reported, by name. */
  get heldBack(): readonly string[] {
    return [...this.reported];
  }

  /** Whether this tool was not reported yet. */
  isNews(tool: string): boolean {
    return !this.reported.has(tool) && this.reported.add(tool).has(tool);
  }
}
