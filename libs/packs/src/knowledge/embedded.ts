import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { knowledgeOver } from './knowledge.js';
import type { ChangeJournal, JournalEntry } from './journal.js';
import { loadTask, loadProblem } from './rdf-files.js';
import { parseResults } from './results-json.js';
import type { ReadQuery } from './read-query.js';
import type { ChangeOutcome, KnowledgeStore } from '@sluice/tools';
import { StoreTaskError, StoreThread } from './store-thread.js';
import type { Triple } from './terms.js';
import type { QueryResult, TripleChange, TripleStore } from './triple-store.js';

interface EmbeddedKnowledgeSettings {
  /** RDF files, by their path: .nt, .ttl, .nq, .trig, .n3, .rdf, .owl, .xml or .jsonld. */
  readonly load: readonly string[];
  /** Keeps every change; closed with the graph. */
  readonly journal: ChangeJournal;
  /** How long one query may run, in milliseconds; 10,000 by default. */
  readonly queryMs?: number;
}

/**
 * A knowledge graph inside this process (Oxigraph, WebAssembly, in a thread of its own). Changes are in the journal
 * before they are in memory, so they survive any end of the process; what others wrote there is taken up before each
 * question and each change, so that all who share a journal, and load the same files, have the same graph.
 *
 * What bounds a query: its length (10,000 characters), its results (10,000, cut by a LIMIT while it runs) and its
 * time, after which its thread is ended and a new one loads the files and the journal. What does not: the memory it
 * takes within that time (sorting or grouping a huge product), and the rows of a query whose text takes no LIMIT at
 * its end (a trailing VALUES), which are only counted afterwards. Queries run one after another.
 *
 * Throws, with a sentence that names the file and the line, if a file or the journal cannot be read.
 */
export async function openEmbeddedKnowledge(settings: EmbeddedKnowledgeSettings): Promise<KnowledgeStore> {
  const store = new EmbeddedStore(settings.load, settings.journal, settings.queryMs ?? 10_000);
  try {
    await store.refresh();
  } catch (error) {
    await store.close();
    throw error;
  }
  return knowledgeOver(store);
}

class EmbeddedStore implements TripleStore {
  private thread: StoreThread | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  /** How many entries of the journal the thread in service holds. */
  private applied = 0;
  /** What every change did, by its key. */
  private readonly outcomes = new Map<string, Pick<JournalEntry, 'added' | 'removed'>>();

  constructor(
    private readonly files: readonly string[],
    private readonly journal: ChangeJournal,
    private readonly queryMs: number,
  ) {}

  refresh(): Promise<void> {
    return this.next(async () => {
      await this.current();
    });
  }

  run(query: ReadQuery, signal: AbortSignal): Promise<QueryResult> {
    return this.next(async () => {
      signal.throwIfAborted();
      const thread = await this.serving();
      const triples = query.form === 'construct' || query.form === 'describe';
      const task = { task: 'query', bounded: query.bounded, text: query.text, triples } as const;
      const answer = await this.within(thread, signal, () => thread.perform(task));
      return typeof answer === 'string'
        ? parseResults(answer)
        : { kind: 'triples', triples: answer as readonly Triple[] };
    });
  }

  async done(key: string): Promise<ChangeOutcome | undefined> {
    return this.before(key);
  }

  apply(change: TripleChange, signal: AbortSignal): Promise<ChangeOutcome> {
    return this.next(async () => {
      for (;;) {
        const thread = await this.current();
        const before = this.before(change.key);
        if (before !== undefined) return before;
        signal.throwIfAborted();
        const entry = await this.entryFor(change, thread);
        // Where another process was faster, what this change really does is to be found out again.
        if (!(await this.journal.append(this.applied, entry))) continue;
        // From here on it has happened, and what it did is known. If the thread dies now, the next one reads it from
        // the journal.
        await this.take(thread, entry).catch(() => undefined);
        return { added: entry.added, removed: entry.removed, alreadyDone: false };
      }
    });
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.underWay();
    await this.thread?.stop(new ToolUnavailableError('The knowledge graph is closed.'));
    await this.journal.close();
  }

  /** What of the change would really change something: taken back and replayed, only that may be done. */
  private async entryFor({ key, add, remove, names }: TripleChange, thread: StoreThread): Promise<JournalEntry> {
    const answer = await thread.perform({ task: 'effect', add, remove });
    const effect = answer as { readonly add: number[]; readonly remove: number[] };
    const really = {
      add: effect.add.flatMap((at) => add[at] ?? []),
      remove: effect.remove.flatMap((at) => remove[at] ?? []),
    };
    return {
      key,
      add: [...really.add, ...names],
      remove: really.remove,
      added: really.add.length,
      removed: really.remove.length,
    };
  }

  private before(key: string): ChangeOutcome | undefined {
    const done = this.outcomes.get(key);
    return done === undefined ? undefined : { ...done, alreadyDone: true };
  }

  /** The thread in service as it is; one that is new has everything that is in the journal. */
  private async serving(): Promise<StoreThread> {
    if (this.closed) throw new ToolUnavailableError('The knowledge graph is closed.');
    return this.thread === undefined || this.thread.ended !== undefined ? this.current() : this.thread;
  }

  /**
   * The thread in service, with everything that is in the journal: a new one if there is none or the one before it
   * ended.
   */
  private async current(): Promise<StoreThread> {
    if (this.closed) throw new ToolUnavailableError('The knowledge graph is closed.');
    const thread = this.thread === undefined || this.thread.ended !== undefined ? await this.newThread() : this.thread;
    for (;;) {
      const entries = await this.journal.after(this.applied);
      for (const entry of entries) await this.take(thread, entry);
      if (entries.length === 0) return thread;
    }
  }

  private async newThread(): Promise<StoreThread> {
    const thread = new StoreThread();
    this.thread = thread;
    this.applied = 0;
    try {
      for (const file of this.files)
        await thread.perform(loadTask(file)).catch((error: unknown) => Promise.reject(loadProblem(file, error)));
      return thread;
    } catch (error) {
      await thread.stop(new Error('The knowledge graph could not be loaded.'));
      throw error;
    }
  }

  private async take(thread: StoreThread, { key, add, remove, added, removed }: JournalEntry): Promise<void> {
    await thread.perform({ task: 'change', add, remove });
    this.applied++;
    this.outcomes.set(key, { added, removed });
  }

  /** One task after another: the store has one thread. */
  private next<T>(task: () => Promise<T>): Promise<T> {
    const result = this.last.then(task);
    this.last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Waits for what is done now, not longer than for a query; what waits behind it is refused. */
  private async underWay(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), this.queryMs);
    await Promise.race([this.last, late]);
    clearTimeout(timer);
  }

  /** Waits for a query until its time is up or its caller aborts it; both end the thread. */
  private async within<T>(thread: StoreThread, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const seconds = this.queryMs / 1000;
    const late = new ToolUserError(
      `The query ran longer than ${seconds} s and was stopped. Ask for less, with more exact patterns or a LIMIT on an inner SELECT.`,
    );
    const stop = (reason: Error): void => void thread.stop(reason);
    const onAbort = (): void => stop(signal.reason as Error);
    const timer = setTimeout(() => stop(late), this.queryMs);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreTaskError)
        throw new ToolUserError(`The SPARQL query cannot be answered: ${error.message}.`, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
