import { logNames } from '@sluice/core';
import type { Decision, Evaluator } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import { pastOfRun } from '@sluice/run';
import type { Loaded, Measured } from '@sluice/run';
import { LoadWatch } from './load/load-watch.js';
import type { AcceptedRequest } from './request-intake.js';
import type { Runtime } from './runtime.js';

/** What a decision on what a run may use takes beside the rules: what is measured for it, and what is counted of it. */
export class RunDecisions {
  private readonly loads: LoadWatch;

  constructor(private readonly runtime: Runtime) {
    this.loads = new LoadWatch(runtime);
  }

  /** What a decision on the run is judged by beside its records, as it is now. */
  async measure(
    { ids, request, run }: Pick<AcceptedRequest, 'ids' | 'request' | 'run'>,
    loaded: Loaded,
  ): Promise<Measured> {
    const { runtime } = this;
    const now = runtime.clock.now();
    const [measured, facts] = await Promise.all([
      this.loads.measured(loaded),
      pastOfRun({ request, run }, ids, loaded.evaluator, now, runtime.past),
    ]);
    return { ...measured, facts };
  }

  /** The rules’ own time, without what was measured before and what is signed behind. */
  timed<T>({ rules }: Evaluator, decide: () => T): T {
    const { filterDuration, filterMemory } = this.runtime.metrics;
    const before = rules.memory();
    const start = performance.now();
    const decided = decide();
    filterDuration.observe((performance.now() - start) / 1_000);
    const { hits, misses } = rules.memory();
    filterMemory.inc({ result: 'hit' }, hits - before.hits);
    filterMemory.inc({ result: 'miss' }, misses - before.misses);
    return decided;
  }

  /** Counts a decision once it is on the log; the record is not kept until then. */
  counting(
    { eligible }: Pick<Decision, 'eligible'>,
    { requestId, iteration, hiddenCounts, unknownGroups, fallbackGroups }: Toolset,
  ): () => void {
    const { metrics, log } = this.runtime;
    const count = eligible.length;
    return () => {
      metrics.filteredTools.observe(count);
      for (const [reason, hidden] of Object.entries(hiddenCounts)) metrics.hiddenTools.inc({ reason }, hidden);
      for (const group of fallbackGroups) metrics.fallbackGroups.inc({ group });
      if (iteration === 1 && unknownGroups.length > 0) {
        log.warn(
          { request_id: requestId, unknown_groups: logNames(unknownGroups) },
          'the request names groups that no tool carries',
        );
      }
    };
  }
}
