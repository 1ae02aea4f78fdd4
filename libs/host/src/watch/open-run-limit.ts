import { mostOpenRuns } from '@sluice/configuration';
import { readOpenRuns } from '@sluice/run';
import type { OpenRunReport } from '@sluice/run';
import { BoundedNames } from '../bounded-names.js';
import type { Runtime } from '../runtime.js';
import { OwnRuns } from './own-runs.js';
import type { OwnRun } from './own-runs.js';
import type { RunWatch } from './run-watch.js';

/** How long a report is used before it is read again, milliseconds. */
const readEveryMs = 500;

/** Which tenants are counted by name. */
const tenants = new BoundedNames(100);

/** The tenant has as many open runs as it may. `message` says what to do. */
export class TooManyRuns extends Error {
  override readonly name = 'TooManyRuns';
  readonly retryAfterSeconds = 2;
}

/**
 * Refuses a run where its tenant has as many open as the configuration permits. What is open the filters report,
 * which watch all runs on the log; what began here since their last report is added. So a restart forgets nothing
 * that a filter knows of, and several doors overshoot by what the others took within a second or two.
 */
export class OpenRunLimit {
  private readonly own: OwnRuns;
  private report: OpenRunReport | null = null;
  private reading: Promise<void> | undefined;
  private readAt = -Infinity;
  private isAway = false;

  constructor(
    private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'documents' | 'log' | 'metrics'>,
    watch: Pick<RunWatch, 'expect'>,
    private readonly door: 'http' | 'mcp',
  ) {
    this.own = new OwnRuns(runtime.clock, watch);
  }

  /**
   * Counts a run that is about to be published. Throws TooManyRuns. The returned function takes it back, where
   * nothing was published.
   */
  async admit(run: OwnRun): Promise<() => void> {
    const { configurations, metrics } = this.runtime;
    const limit = mostOpenRuns(configurations.current().configuration.limits);
    if (limit === null) return () => undefined;
    await this.read();
    const { tenant } = run;
    const open = (this.report?.tenants.get(tenant) ?? 0) + this.own.of(tenant, this.report?.at ?? null);
    if (open < limit) return this.own.add(run);
    metrics.runsNotBegun.inc({ door: this.door, ...tenants.of({ tenant }) });
    throw new TooManyRuns(
      `The tenant has ${String(open)} open runs, and limits.open_runs permits ${String(limit)}. Try again when one of them has ended.`,
    );
  }

  /** Where the report cannot be read, the last one counts: a door takes requests while the ledger is away, too. */
  private read(): Promise<void> {
    const now = performance.now();
    if (now < this.readAt + readEveryMs) return this.reading ?? Promise.resolve();
    this.readAt = now;
    return (this.reading = this.readNow().finally(() => (this.reading = undefined)));
  }

  private async readNow(): Promise<void> {
    try {
      this.report = await readOpenRuns(this.runtime.documents);
      this.isAway = false;
    } catch (error) {
      if (!this.isAway)
        this.runtime.log.warn(
          { error: (error as Error).message },
          'how many runs are open cannot be read; the last count goes on to count',
        );
      this.isAway = true;
    }
  }
}
