import { measuresOf } from '@sluice/core';
import { reportLoad } from '@sluice/run';
import type { CallLoad } from '@sluice/run';
import type { Runtime } from '@sluice/host';

const windowMs = 60_000;
/** Calls of the last minute that are remembered, at most; beyond it the oldest go. */
const remembered = 1_024;
/** How often a report is written while a rule of the configuration needs it. */
const everyMs = 1_000;

/** Counts the calls of this executor, and reports them where the filter reads them, while a rule is about them. */
export class CallWatch {
  private inFlight = 0;
  private readonly ended: { readonly at: number; readonly seconds: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly runtime: Runtime) {
    runtime.configurations.onChange(({ configuration: { rules = [] } }) => {
      this.watch([...measuresOf(rules).values()].includes(null));
    });
  }

  /** Counts a call until the returned function says that it has ended; only one whose tool ran is timed. */
  begin(): (wasRun: boolean) => void {
    const began = performance.now();
    this.inFlight++;
    return (wasRun) => {
      this.inFlight--;
      if (!wasRun) return;
      this.ended.push({ at: performance.now(), seconds: (performance.now() - began) / 1_000 });
      if (this.ended.length > remembered) this.ended.shift();
    };
  }

  async close(): Promise<void> {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    await this.writing;
    await this.report(null);
  }

  private watch(isNeeded: boolean): void {
    if (isNeeded === (this.timer !== undefined)) return;
    clearInterval(this.timer);
    this.timer = undefined;
    if (!isNeeded) return;
    const write = (): void => void (this.writing = this.writing.then(() => this.report(this.load())));
    write();
    this.timer = setInterval(write, everyMs);
    this.timer.unref();
  }

  private load(): CallLoad {
    const since = performance.now() - windowMs;
    const recent = this.ended.filter(({ at }) => at >= since).map(({ seconds }) => seconds);
    recent.sort((one, other) => one - other);
    return { inFlight: this.inFlight, p95: recent[Math.ceil(recent.length * 0.95) - 1] ?? 0 };
  }

  private async report(load: CallLoad | null): Promise<void> {
    const { documents, environment, clock, log } = this.runtime;
    try {
      await reportLoad(documents, environment.instance, load, clock.now());
    } catch (error) {
      log.warn(
        { error: (error as Error).message },
        'the load of this executor could not be reported; rules close what it is about',
      );
    }
  }
}
