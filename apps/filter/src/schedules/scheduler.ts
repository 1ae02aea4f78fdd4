import type { Configuration, ScheduleSettings } from '@sluice/core';
import { dueTimes, nextDue } from '@sluice/configuration';
import {
  correctedState,
  EntryTimes,
  jitterOf,
  newState,
  scheduleEntries,
  ScheduleStates,
  withDue,
  withoutHead,
} from '@sluice/run';
import type { ScheduleState, Skipped } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { startRun } from './start-run.js';

interface SchedulePace {
  /** How often it looks, milliseconds. */
  readonly everyMs: number;
  /** For how long a start is one filter’s, milliseconds; should it be killed, another one starts the run then. */
  readonly claimMs: number;
}

const defaultPace: SchedulePace = { everyMs: 1_000, claimMs: 15_000 };

/**
 * Starts runs by the schedules of the configuration in force. Every filter looks; what is due goes into a queue in the
 * ledger’s database first, and is taken out once its request is on the log. So no due time is lost by a process that
 * is killed, and each is one run, since its request_id follows from it.
 */
export class Scheduler {
  private readonly states: ScheduleStates;
  private readonly times: EntryTimes;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private isAway = false;
  /** By name, the first due time behind one: it is computed once. */
  private readonly next = new Map<string, { readonly form: string; readonly at: number }>();
  private readonly known = new Set<string>();

  constructor(
    private readonly runtime: Runtime,
    private readonly pace = defaultPace,
  ) {
    this.states = new ScheduleStates(runtime.documents);
    this.times = new EntryTimes(runtime, scheduleEntries);
    this.wait();
  }

  async close(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.looking;
  }

  private wait(): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.looking = this.tick().then(() => this.wait());
    }, this.pace.everyMs);
  }

  private async tick(): Promise<void> {
    const { configurations, log } = this.runtime;
    const configuration = configurations.inForceOrNull()?.configuration;
    const schedules = configuration?.schedules ?? [];
    this.countFromZero(schedules);
    if (configuration === undefined || schedules.length === 0) return;
    try {
      await this.look(configuration, schedules);
      this.isAway = false;
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (!this.isAway) log.warn({ error: (error as Error).message }, 'schedules cannot start runs now; trying again');
      this.isAway = true;
      this.reportLate(schedules, new Map());
    }
  }

  private async look(configuration: Configuration, schedules: readonly ScheduleSettings[]): Promise<void> {
    const since = await this.times.of(configuration);
    const states = await this.enqueue(schedules, since);
    if (states === null) return;
    for (const schedule of schedules) {
      if (this.stopping.signal.aborted) return;
      const state = states.get(schedule.name);
      if (state === undefined || state.queue.length === 0) continue;
      states.set(schedule.name, await this.drain(schedule, schedules, state));
    }
    this.reportLate(schedules, states);
  }

  /** Puts what is due into the queues; null where another filter has just written. */
  private async enqueue(
    schedules: readonly ScheduleSettings[],
    since: ReadonlyMap<string, number>,
  ): Promise<Map<string, ScheduleState> | null> {
    const { version, states: read } = await this.states.read();
    const states = new Map(read);
    const skipped: (Skipped & { readonly name: string })[] = [];
    const now = this.runtime.clock.now();
    let isChanged = false;
    for (const schedule of schedules) {
      const { name } = schedule;
      const from = since.get(name);
      const found = states.get(name) ?? newState;
      const state = correctedState(found, now);
      if (state !== found) {
        isChanged = true;
        states.set(name, state);
      }
      if (from === undefined || !this.mayBeDue(schedule, Math.max(state.handledTo, from), now)) continue;
      const planned = withDue(state, schedule, { since: from, now, dues: dueTimes });
      if (planned === null) continue;
      isChanged = true;
      states.set(name, planned.state);
      skipped.push(...planned.skipped.map((one) => ({ ...one, name })));
    }
    if (!isChanged) return states;
    if (!(await this.states.write({ version, states }, schedules))) return null;
    for (const one of skipped) this.countSkip(one.name, one);
    return states;
  }

  /** Starts what is at the head of the queue, and what is behind it, until one has to wait. */
  private async drain(
    schedule: ScheduleSettings,
    all: readonly ScheduleSettings[],
    state: ScheduleState,
  ): Promise<ScheduleState> {
    const { scheduleStarts } = this.runtime.metrics;
    let current = state;
    for (const head of state.queue) {
      if (this.stopping.signal.aborted) break;
      const { claimMs } = this.pace;
      const started = await startRun(schedule, current, head, { runtime: this.runtime, claimMs });
      if (started === 'waits') break;
      const last = started === 'overlap' ? null : started;
      let isOwn = false;
      const changed = await this.states.change(schedule.name, all, (before) => {
        isOwn = before.queue.some(({ due, by }) => due === head.due && by === head.by);
        return isOwn ? withoutHead(before, head, last) : before;
      });
      current = changed ?? current;
      if (!isOwn) continue;
      if (last === null) this.countSkip(schedule.name, { reason: 'overlap', due: head.due });
      else scheduleStarts.inc({ schedule: schedule.name });
    }
    return current;
  }

  private mayBeDue(schedule: ScheduleSettings, after: number, now: number): boolean {
    const { name, cron, timeZone, from, until } = schedule;
    const form = JSON.stringify([cron, timeZone, from, until, after]);
    let next = this.next.get(name);
    if (next?.form !== form) {
      next = { form, at: nextDue(schedule, after) ?? Infinity };
      this.next.set(name, next);
    }
    return next.at <= now;
  }

  private countSkip(name: string, { reason, due }: Skipped): void {
    const { log, metrics } = this.runtime;
    metrics.scheduleSkips.inc({ schedule: name, reason });
    log.info({ schedule: name, reason, due: new Date(due).toISOString() }, 'a schedule started no run at its due time');
  }

  /** By what is known: where the states cannot be read, by the due times that were to come next. */
  private reportLate(schedules: readonly ScheduleSettings[], states: ReadonlyMap<string, ScheduleState>): void {
    const now = this.runtime.clock.now();
    for (const schedule of schedules) {
      const { name } = schedule;
      const waiting = (states.get(name)?.queue ?? []).map(({ due }) => due);
      const oldest = Math.min(...waiting, this.next.get(name)?.at ?? Infinity);
      const late = Number.isFinite(oldest) ? Math.max(0, now - oldest - jitterOf(schedule, oldest)) : 0;
      this.runtime.metrics.scheduleLate.set({ schedule: name }, late / 1_000);
    }
  }

  /** Series start at 0, so that a schedule’s first run shows as an increase. */
  private countFromZero(schedules: readonly ScheduleSettings[]): void {
    const { scheduleLate, scheduleStarts } = this.runtime.metrics;
    const names = new Set(schedules.map(({ name }) => name));
    for (const name of names) if (!this.known.has(name)) scheduleStarts.inc({ schedule: name }, 0);
    for (const name of this.known) if (!names.has(name)) scheduleLate.remove({ schedule: name });
    this.known.clear();
    for (const name of names) this.known.add(name);
  }
}
