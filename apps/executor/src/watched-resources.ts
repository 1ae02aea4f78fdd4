import { mostWatched, watchedIn, watchedPrefix } from '@sluice/contracts';
import type { WatchedResource } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';
import type { McpServers } from './mcp-servers.js';

/** How often it is looked what doors want watched, in milliseconds. */
const lookMs = 5_000;

/**
 * Keeps subscribed, at MCP servers, to the resources that doors have written into the ledger: also behind a restart,
 * and at each executor, since each has servers by command of its own. What no door keeps there ends.
 */
export class WatchedResources {
  /** By the keys of their documents, whose texts never change. */
  private known = new Map<string, WatchedResource>();
  private readonly timer: NodeJS.Timeout;
  private looking = false;
  /** What is watched when this process starts may have changed before. */
  private isLate = true;

  constructor(
    private readonly runtime: Pick<Runtime, 'documents' | 'clock' | 'configurations' | 'log'>,
    private readonly servers: Pick<McpServers, 'follow'>,
  ) {
    this.timer = setInterval(() => void this.look(), lookMs).unref();
    void this.look();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const { configurations, log } = this.runtime;
    const loaded = configurations.inForceOrNull();
    if (loaded === null || this.looking) return;
    const { tools } = loaded.configuration;
    const subscribing = new Set(tools.flatMap(({ mcp }) => (mcp?.subscribes === true ? [mcp.server] : [])));
    if (subscribing.size === 0) return;
    this.looking = true;
    try {
      await this.read();
      const all = [...this.known.values()];
      for (const id of subscribing)
        this.servers.follow(id, new Set(all.flatMap(({ server, uri }) => (server === id ? [uri] : []))), this.isLate);
      this.isLate = false;
    } catch (error) {
      // What is subscribed to stays so.
      log.warn({ error: (error as Error).message }, 'the ledger could not be asked which resources are watched');
    } finally {
      this.looking = false;
    }
  }

  private async read(): Promise<void> {
    const { documents, clock } = this.runtime;
    const { first } = await documents.tally(watchedPrefix, clock.now(), mostWatched);
    const known = new Map<string, WatchedResource>();
    for (const key of first) {
      const watched = this.known.get(key) ?? watchedIn((await documents.find(key))?.text ?? '');
      if (watched !== null) known.set(key, watched);
    }
    this.known = known;
  }
}
