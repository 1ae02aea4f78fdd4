import { listAddress, placeholdersIn } from '@sluice/core';
import type { ListCaller, ListLookup, Lists } from '@sluice/core';
import { readList } from './read-list.js';
import type { ListRequests } from './read-list.js';

/** Answers that are kept, and values in all of them together. */
const mostAnswers = 1_000;
const mostValues = 1_000_000;
/** So long after a failure a list is not read again, in milliseconds, so that no call waits for it in vain. */
const pauseMs = 5_000;

interface ReaderParts extends ListRequests {
  /** Milliseconds of a clock that is never set back. */
  now(): number;
  /** After each time that a list was read; `why` is null where it could be. */
  onRead(list: string, why: string | null): void;
}

interface Kept {
  values: ReadonlySet<string> | null;
  readAt: number;
  failedAt: number;
  reading: Promise<void> | null;
}

const unknownCaller: ListCaller = { tenant: '', user: '', claims: {} };

/** The values of lists that are kept elsewhere, in memory for as long as their settings say. */
export class ListReader {
  /** By address, key and path, the one that was used last at the end. */
  private readonly kept = new Map<string, Kept>();
  private timers: readonly NodeJS.Timeout[] = [];
  private shared: readonly (readonly [name: string, settings: ListLookup])[] = [];

  constructor(private readonly parts: ReaderParts) {}

  /** Reads the lists that are the same for all callers, now and as often as they say, in place of those before. */
  use(lists: Lists = {}): void {
    this.close();
    this.shared = Object.entries(lists).flatMap(([name, list]) =>
      'lookup' in list && placeholdersIn(list.lookup.url).length === 0 ? [[name, list.lookup] as const] : [],
    );
    this.timers = this.shared.map(([name, settings]) => {
      const read = (): Promise<void> => this.read(name, settings.url, settings, this.entry(settings.url, settings));
      void read();
      return setInterval(() => void read(), settings.refreshMs).unref();
    });
  }

  /** The values of the list for this caller; null where they are not to be had. */
  async values(name: string, settings: ListLookup, caller: ListCaller): Promise<ReadonlySet<string> | null> {
    const address = listAddress(settings.url, caller);
    if (address === null) return null;
    const { refreshMs, staleMs } = settings;
    const entry = this.entry(address, settings);
    const isDue = this.age(entry) >= refreshMs && this.parts.now() - entry.failedAt >= Math.min(pauseMs, refreshMs);
    if (isDue) await this.read(name, address, settings, entry);
    return this.age(entry) < refreshMs + staleMs ? entry.values : null;
  }

  /** How old the values are of the lists that are the same for all callers, in milliseconds, once they were read. */
  ages(): ReadonlyMap<string, number> {
    const ages = this.shared.map(([name, settings]) => [name, this.age(this.entry(settings.url, settings))] as const);
    return new Map(ages.filter(([, age]) => age < Infinity));
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
  }

  private age({ values, readAt }: Kept): number {
    return values === null ? Infinity : this.parts.now() - readAt;
  }

  /** Calls that want the same at the same time wait for one answer. */
  private read(name: string, address: string, settings: ListLookup, entry: Kept): Promise<void> {
    entry.reading ??= this.ask(name, address, settings, entry).finally(() => (entry.reading = null));
    return entry.reading;
  }

  private async ask(name: string, address: string, settings: ListLookup, entry: Kept): Promise<void> {
    try {
      entry.values = await readList(address, settings, this.parts);
      entry.readAt = this.parts.now();
      this.parts.onRead(name, null);
      this.forgetOldest();
    } catch (error) {
      entry.failedAt = this.parts.now();
      this.parts.onRead(name, (error as Error).message);
    }
  }

  private entry(address: string, { keyEnv, items }: ListLookup): Kept {
    const key = JSON.stringify([address, keyEnv, items]);
    const entry = this.kept.get(key) ?? { values: null, readAt: 0, failedAt: -Infinity, reading: null };
    this.kept.delete(key);
    this.kept.set(key, entry);
    return entry;
  }

  private forgetOldest(): void {
    let values = 0;
    for (const one of this.kept.values()) values += one.values?.size ?? 0;
    for (const [key, one] of this.kept) {
      if (this.kept.size <= mostAnswers && values <= mostValues) return;
      if (one.reading !== null) continue;
      values -= one.values?.size ?? 0;
      this.kept.delete(key);
    }
  }
}

/** Reads a list once, as an executor would for a caller of whom nothing is known. Rejects with why it cannot. */
export async function tryList(settings: ListLookup, requests: ListRequests): Promise<void> {
  const address = listAddress(settings.url, unknownCaller);
  if (address !== null) await readList(address, settings, requests);
}
