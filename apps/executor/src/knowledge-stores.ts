import type { KnowledgeSettings } from '@sluice/core';
import type { KnowledgeStore } from '@sluice/tools';

interface KnowledgeStoresParts {
  open(settings: KnowledgeSettings): Promise<KnowledgeStore>;
  onCloseFailed(error: unknown): void;
  /**
   * How long a store is kept that is unused and that the configuration in force does not name, in milliseconds.
   * Default 300,000.
   */
  readonly idleMs?: number;
}

interface Held {
  readonly store: Promise<KnowledgeStore>;
  /** Calls under way. */
  users: number;
  idle: NodeJS.Timeout | undefined;
}

const idleByDefaultMs = 300_000;

/**
 * A store for each of the settings in use: runs that began under an older configuration go on with their own while
 * others have the new one. That of the configuration in force stays open; another is closed when it was unused for a
 * while.
 */
export class KnowledgeStores {
  private readonly held = new Map<string, Held>();
  private readonly leaving = new Set<Promise<void>>();
  private inForce: string | null = null;

  constructor(private readonly given: KnowledgeStoresParts) {}

  /** From now on these are the settings in force. */
  use(settings: KnowledgeSettings): void {
    this.inForce = JSON.stringify(settings);
    for (const [key, held] of this.held) this.waitFor(key, held);
  }

  /** The store under these settings, opened if it is not; also where it was closed in between. */
  async of(settings: KnowledgeSettings): Promise<KnowledgeStore> {
    await this.with(settings, () => Promise.resolve());
    return {
      find: (...asked) => this.with(settings, (store) => store.find(...asked)),
      query: (...asked) => this.with(settings, (store) => store.query(...asked)),
      change: (...asked) => this.with(settings, (store) => store.change(...asked)),
      close: () => Promise.resolve(),
    };
  }

  /** Closes all, those in use as well. */
  async close(): Promise<void> {
    for (const [key, held] of this.held) this.letGo(key, held);
    await Promise.all(this.leaving);
  }

  private async with<T>(settings: KnowledgeSettings, work: (store: KnowledgeStore) => Promise<T>): Promise<T> {
    const key = JSON.stringify(settings);
    const held = this.held.get(key) ?? this.open(key, settings);
    clearTimeout(held.idle);
    held.users++;
    try {
      return await work(await held.store);
    } finally {
      held.users--;
      this.waitFor(key, held);
    }
  }

  private open(key: string, settings: KnowledgeSettings): Held {
    const held: Held = { store: this.given.open(settings), users: 0, idle: undefined };
    this.held.set(key, held);
    // A caller that waits for it gets the reason; the next one tries again.
    held.store.catch(() => this.held.get(key) === held && this.held.delete(key));
    return held;
  }

  /** Begins the time after which an unused store is closed, if it is one. */
  private waitFor(key: string, held: Held): void {
    clearTimeout(held.idle);
    if (held.users > 0 || key === this.inForce || this.held.get(key) !== held) return;
    held.idle = setTimeout(() => this.letGo(key, held), this.given.idleMs ?? idleByDefaultMs).unref();
  }

  private letGo(key: string, held: Held): void {
    clearTimeout(held.idle);
    this.held.delete(key);
    const gone = held.store
      .catch(() => undefined)
      .then((store) => store?.close())
      .catch((error: unknown) => this.given.onCloseFailed(error))
      .finally(() => this.leaving.delete(gone));
    this.leaving.add(gone);
  }
}
