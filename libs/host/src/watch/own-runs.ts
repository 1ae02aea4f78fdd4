import type { Clock } from '@sluice/core';
import type { RunWatch } from './run-watch.js';

/** A run that begins at this door. */
export interface OwnRun {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tenant: string;
  /** Whether it is one call without a model, which begins with no Toolset. */
  readonly isCall?: boolean;
}

/**
 * How long a run is counted that no filter takes, in the filters’ time: one that was dropped as a duplicate is never
 * taken.
 */
const untakenMs = 300_000;
/** By then the filters count a call that has not ended: they look a second after the log took it, each second. */
const callReportedMs = 3_000;
/** Runs that are counted at a time; those beyond are not. */
const most = 100_000;

interface Counted {
  readonly since: number;
  /** When its first Toolset was seen, or the filters know of a call; null while it waits for a filter. */
  takenAt: number | null;
  /** It has ended, or is in a report. */
  forget(): void;
}

/** Runs that began at this door and that no report has yet. */
export class OwnRuns {
  private readonly byTenant = new Map<string, Set<Counted>>();
  private count = 0;

  constructor(
    private readonly clock: Clock,
    private readonly watch: Pick<RunWatch, 'expect'>,
  ) {}

  /** How many of the tenant’s runs a report of this time does not count. */
  of(tenant: string, reportedAt: number | null): number {
    const runs = this.byTenant.get(tenant) ?? new Set();
    if (reportedAt !== null)
      for (const run of [...runs]) if (reportedAt > (run.takenAt ?? run.since + untakenMs)) run.forget();
    return runs.size;
  }

  /** Returns what takes it back. */
  add({ tenant, isCall = false, ...run }: OwnRun): () => void {
    if (this.count >= most) return () => undefined;
    const runs = this.byTenant.get(tenant) ?? new Set();
    this.byTenant.set(tenant, runs);
    const since = this.clock.now();
    const counted: Counted = {
      since,
      takenAt: isCall ? since + callReportedMs : null,
      forget: () => {
        if (!runs.delete(counted)) return;
        this.count--;
        if (runs.size === 0 && this.byTenant.get(tenant) === runs) this.byTenant.delete(tenant);
        stop();
      },
    };
    const stop = this.watch.expect(run, tenant, {
      taken: () => (counted.takenAt ??= this.clock.now()),
      ended: () => counted.forget(),
    });
    runs.add(counted);
    this.count++;
    return () => counted.forget();
  }
}
