import { setTimeout as delay } from 'node:timers/promises';
import { GroupHeld } from '@sluice/bus';
import type { Bus, Consumer, SqliteBus } from '@sluice/bus';
import type { Log, OpenRuntime } from '@sluice/host';

/** The group whose lease says which process runs the services for all clients of a data folder; it reads nothing. */
const group = 'mcp-services';
/** The service that is there wherever services run, in a process started for that too. */
const firstService = 'filter';

/** How often a process without services looks whether any run, in milliseconds. */
const lookEveryMs = 200;
/** How long it waits after services could not be started, in milliseconds. */
const failedMs = 5_000;
/** The lease is given back at once: nothing is in work under it. */
const noDrain = 0;

interface Given {
  /** This process's own log, which stays open for its client. */
  readonly bus: Pick<Bus, 'subscribe'> & Pick<SqliteBus, 'holderOf'>;
  readonly log: Log;
  /** Whether a configuration is in force, so that a client can be served. */
  readonly isUsable: () => boolean;
  /**
   * Starts all services in this process; `isTakeover` where others ran before. Rejects with GroupHeld where another
   * process was first.
   */
  readonly start: (isTakeover: boolean) => Promise<Pick<OpenRuntime, 'failed' | 'close'>>;
}

/**
 * One set of services for all processes that serve MCP clients on one data folder: the first runs them, and when it
 * ends, however it does, another takes them over. What it had in work is done again there, as after any end of a
 * service.
 */
export class SharedServices {
  private readonly stopping = new AbortController();
  private readonly _ready = Promise.withResolvers<undefined>();
  private readonly keeping: Promise<void>;
  private isReady = false;

  constructor(private readonly given: Given) {
    this._ready.promise.catch(() => undefined);
    this.keeping = this.keep();
  }

  /** Resolves once services run, in this process or another; rejects if they cannot be started. */
  get ready(): Promise<void> {
    return this._ready.promise;
  }

  /** Ends the services if they run here. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.keeping;
  }

  private async keep(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      let waitMs = lookEveryMs;
      try {
        if (!(await this.isServed())) await this.serve();
        else if (this.given.isUsable()) this.begun();
      } catch (error) {
        // Its client has not been served yet: the process ends with the reason.
        if (!this.isReady) return this._ready.reject(error);
        this.given.log.error({ error: (error as Error).message }, 'the services could not be taken over; trying again');
        waitMs = failedMs;
      }
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async isServed(): Promise<boolean> {
    const { bus } = this.given;
    return (await bus.holderOf(group)) !== null || (await bus.holderOf(firstService)) !== null;
  }

  /** Runs the services until they fail or this process stops; returns at once where another process runs them. */
  private async serve(): Promise<void> {
    const { start, log } = this.given;
    const lease = await this.lease();
    if (lease === null) return;
    try {
      const services = await start(this.isReady);
      try {
        this.begun();
        log.info('this process runs the services of the data folder');
        const reason = await Promise.race([services.failed, lease.failed, this.stopped()]);
        if (reason !== null) log.error({ error: reason.message }, 'the services of this process ended');
      } finally {
        await services.close();
      }
    } catch (error) {
      if (!(error instanceof GroupHeld)) throw error;
    } finally {
      await lease.stop(noDrain);
    }
  }

  private async lease(): Promise<Consumer | null> {
    try {
      return await this.given.bus.subscribe({ group, topics: [], handle: () => Promise.resolve([]) });
    } catch (error) {
      if (error instanceof GroupHeld) return null;
      throw error;
    }
  }

  private stopped(): Promise<null> {
    const { signal } = this.stopping;
    return new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      else signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  }

  private begun(): void {
    this.isReady = true;
    this._ready.resolve(undefined);
  }
}
