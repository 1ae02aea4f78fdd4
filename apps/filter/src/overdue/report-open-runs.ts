import { mostOpenRuns } from '@sluice/configuration';
import { reportOpenRuns } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import type { OverdueSweep } from './overdue-sweep.js';

/** How often it looks, and how old a report may become in which nothing changes, milliseconds. */
const pace = { everyMs: 1_000, keptMs: 5_000 };

/**
 * Tells the doors how many runs each tenant has open, while the configuration limits them. The sweep watches them
 * anyway.
 */
export class OpenRunReporter {
  private readonly timer: NodeJS.Timeout;
  private writing: Promise<void> | undefined;
  private isAway = false;

  constructor(
    private readonly runtime: Runtime,
    private readonly sweep: Pick<OverdueSweep, 'openByTenant'>,
  ) {
    this.timer = setInterval(() => {
      this.writing ??= this.report().finally(() => (this.writing = undefined));
    }, pace.everyMs);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
  }

  private async report(): Promise<void> {
    const { clock, configurations, documents, environment, log } = this.runtime;
    const loaded = configurations.inForceOrNull();
    if (loaded === null || mostOpenRuns(loaded.configuration.limits) === null) return;
    const tenants = this.sweep.openByTenant();
    if (tenants === null) return;
    try {
      // Half of it, so that this one does not wait for a whole round where another filter wrote a moment before.
      const report = { at: clock.now(), by: environment.instance, tenants };
      await reportOpenRuns(documents, report, { ...pace, everyMs: pace.everyMs / 2 });
      this.isAway = false;
    } catch (error) {
      if (!this.isAway)
        log.warn(
          { error: (error as Error).message },
          'open runs cannot be reported, so the doors go by the last count',
        );
      this.isAway = true;
    }
  }
}
