import { Controller, Inject } from '@nestjs/common';
import { programVersion } from '@sluice/core';
import { consumersUnder } from '@sluice/contracts';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { deadlineKept } from '@sluice/run';
import { Lists } from '../lists/lists.js';
import { Route } from '../openapi/route.js';

/** So long an answer about the log is shared by all who ask, in milliseconds. */
const sharedMs = 2_000;
const dayMs = 86_400_000;
/** A run is overdue when nothing has ended it so long behind its deadline, in milliseconds. */
const graceMs = 60_000;
/** Late runs that are looked at. */
const mostLate = 100;
/** Of these, so many are named. */
const mostNamed = 20;

/** How the installation stands: lag by role, what waits, and what failed of late. For operators. */
@Controller()
export class StatusController {
  private shared: { readonly at: number; readonly found: Promise<object> } | null = null;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {}

  @Route('readStatus')
  status(): Promise<object> {
    const now = performance.now();
    if (this.shared === null || now - this.shared.at > sharedMs) {
      const found = this.look();
      this.shared = { at: now, found };
      found.catch(() => (this.shared = null));
    }
    return this.shared.found;
  }

  private async look(): Promise<object> {
    const { clock, configurations, environment, health } = this.runtime;
    const now = clock.now();
    const { projection } = this.lists;
    const [standing, overdue, { checks }, roles] = await Promise.all([
      projection.standing(now, now - dayMs),
      this.overdue(now),
      health.readiness(),
      this.roles(),
    ]);
    return {
      at: now,
      version: programVersion,
      ...{ instance: environment.instance, bus: environment.bus },
      config_version: configurations.inForceOrNull()?.configuration.version ?? null,
      roles,
      checks: Object.entries(checks).map(([name, said]) => ({ name, ok: said === 'ok', said })),
      runs: { running: standing.runs.count, oldest_at: standing.runs.oldestAt, ...overdue },
      approvals: { waiting: standing.approvals.count, oldest_at: standing.approvals.oldestAt },
      dead_letters: { last_day: standing.letters.count, latest_at: standing.letters.latestAt },
    };
  }

  /** By the committed offsets of each role's consumer group; on Kafka transaction markers count. */
  private roles(): Promise<readonly object[]> {
    const groups = consumersUnder(this.runtime.configurations.inForceOrNull()?.configuration);
    return Promise.all(
      groups.map(async ([role, { group, consumes }]) => {
        try {
          const lags = await this.runtime.bus.groupLag(group, consumes);
          const topics = consumes.map((topic) => ({
            topic,
            lag: lags.filter((one) => one.topic === topic).reduce((sum, { records }) => sum + records, 0),
          }));
          return { role, lag: topics.reduce((sum, { lag }) => sum + lag, 0), topics, problem: null };
        } catch (error) {
          return { role, lag: null, topics: [], problem: (error as Error).message };
        }
      }),
    );
  }

  /** Time that a run waits for people does not use up its time, and stands in the ledger. */
  private async overdue(now: number): Promise<object> {
    const late = await this.lists.projection.late(now - graceMs, mostLate + 1);
    const looked = late.slice(0, mostLate);
    const kept = await Promise.all(
      looked.map(({ requestId, tenant }) => deadlineKept({ requestId, tenant }, this.runtime)),
    );
    const found = looked.filter((_, index) => (kept[index] ?? 0) < now - graceMs);
    const named = found.slice(0, mostNamed);
    return {
      overdue: found.length,
      overdue_more: late.length > mostLate,
      overdue_runs: named.map(({ tenant, requestId, deadline }) => ({ tenant, request_id: requestId, deadline })),
    };
  }
}
