import { mayRun } from '@sluice/core';
import type { AuthorizationPort } from '@sluice/core';
import { mostWatched, watchedKey, watchedPrefix } from '@sluice/contracts';
import type { WatchedResource } from '@sluice/contracts';
import { hasResource, passedOnTo } from '@sluice/mcp';
import { askingOf } from './asking.js';
import type { AskingParts, Hearer } from './asking.js';
import { changeValue, keptValue } from './kept-values.js';

/** How long a resource is watched that no door asks for any more, and how often a door does, in milliseconds. */
const watchedMs = 90_000;
const renewMs = 30_000;
/** How often doors look what is to be renewed, in milliseconds. */
export const keepMs = 10_000;

/**
 * The resources of upstream servers whose changes clients of this door want to hear of. What is watched stands in the
 * ledger, where executors read it, and goes by itself when no door renews it.
 */
export class ResourceWatches {
  /** On the monotonic clock, the oldest first. */
  private readonly renewedAt = new Map<string, number>();

  constructor(private readonly parts: AskingParts & { readonly authorizer: () => AuthorizationPort }) {}

  /** Has the resource watched; false where as many are as may be. */
  async begin(watched: WatchedResource): Promise<boolean> {
    const { runtime } = this.parts;
    if ((await keptValue(runtime, watchedKey(watched))) === null) {
      const { count } = await runtime.documents.tally(watchedPrefix, runtime.clock.now(), 0);
      if (count >= mostWatched) return false;
    }
    await this.write(watched);
    return true;
  }

  /** Has them watched for longer; best effort. */
  async keep(all: Iterable<WatchedResource>): Promise<void> {
    const now = performance.now();
    for (const [key, at] of this.renewedAt) {
      if (now - at < renewMs) break;
      this.renewedAt.delete(key);
    }
    try {
      for (const watched of all) if (!this.renewedAt.has(watchedKey(watched))) await this.write(watched);
    } catch (error) {
      const { log } = this.parts.runtime;
      log.warn({ error: (error as Error).message }, 'the ledger could not be asked to have resources watched');
    }
  }

  /** Whether the caller may read the resource now, and its server is still the one that says of its changes. */
  async mayHear(hearer: Hearer, session: string | null, { server, uri }: WatchedResource): Promise<boolean> {
    const { evaluator } = this.parts.runtime.configurations.current();
    const asking = await askingOf(hearer, session, this.parts);
    const entry = passedOnTo('resource', asking, evaluator).find((one) => hasResource(one, uri));
    if (entry?.mcp?.server !== server || entry.mcp.subscribes !== true) return false;
    if (evaluator.configuration.authorization === null) return true;
    return mayRun(entry, hearer.principal, this.parts.authorizer(), 'read');
  }

  private async write(watched: WatchedResource): Promise<void> {
    const key = watchedKey(watched);
    const { server, uri } = watched;
    await changeValue<WatchedResource>(this.parts.runtime, key, watchedMs, () => ({ server, uri }));
    this.renewedAt.delete(key);
    this.renewedAt.set(key, performance.now());
  }
}
