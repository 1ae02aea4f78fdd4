import { Controller, Inject, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { isAmong, isOperator } from '@sluice/core';
import type { Principal, ScheduleSettings } from '@sluice/core';
import { nextDue } from '@sluice/configuration';
import {
  newState,
  ownPrincipal,
  pausedBy,
  resumed,
  runNow,
  scheduledRequestId,
  ScheduleStates,
  scheduleView,
} from '@sluice/run';
import type { ScheduleState } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Lists } from '../lists/lists.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';
import { requireNoBody } from '../strict-body.js';

/** Schedules: seen, paused and run by operators and by those whom `may_control` names (docs/schedules.md). */
@Controller()
export class SchedulesController {
  private readonly states: ScheduleStates;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {
    this.states = new ScheduleStates(runtime.documents);
  }

  @Route('listSchedules')
  async list(@ByPrincipal() caller: Principal): Promise<object> {
    const { states } = await this.states.read();
    const own = this.controlledBy(caller);
    return {
      schedules: await Promise.all(own.map((schedule) => this.view(schedule, states.get(schedule.name) ?? newState))),
    };
  }

  @Route('pauseSchedule')
  pause(@ByPrincipal() caller: Principal, @Param('name') name: string, @Req() http: Request): Promise<object> {
    const now = this.runtime.clock.now();
    return this.changed(caller, name, http, (state) => pausedBy(state, caller.actorId, now));
  }

  @Route('resumeSchedule')
  resume(@ByPrincipal() caller: Principal, @Param('name') name: string, @Req() http: Request): Promise<object> {
    const now = this.runtime.clock.now();
    return this.changed(caller, name, http, (state) => resumed(state, now));
  }

  @Route('runSchedule')
  async run(@ByPrincipal() caller: Principal, @Param('name') name: string, @Req() http: Request): Promise<object> {
    const now = this.runtime.clock.now();
    await this.changed(caller, name, http, (state) => runNow(state, caller.actorId, now));
    const request_id = scheduledRequestId(name, { due: now, by: caller.actorId });
    this.runtime.log.info({ schedule: name, request_id, by: caller.actorId }, 'a run of a schedule was asked for');
    return { request_id, status: 'queued' };
  }

  private async changed(
    caller: Principal,
    name: string,
    http: Request,
    change: (state: ScheduleState) => ScheduleState | null,
  ): Promise<object> {
    requireNoBody(http);
    const schedule = this.controlledBy(caller).find((one) => one.name === name);
    if (schedule === undefined)
      throw new Refusal(404, 'not_found', 'There is no schedule of this name that you may control.');
    const { schedules = [] } = this.runtime.configurations.current().configuration;
    const state = await this.states.change(name, schedules, change);
    if (state === null)
      throw new Refusal(409, 'conflict', 'As many runs of this schedule wait as may. Try again when they have begun.');
    return this.view(schedule, state);
  }

  private controlledBy(caller: Principal): readonly ScheduleSettings[] {
    const { schedules = [], identity, groupTree } = this.runtime.configurations.current().configuration;
    if (isOperator(caller, identity)) return schedules;
    return schedules.filter(
      ({ tenant, mayControl }) =>
        tenant === caller.tenantId && mayControl !== undefined && isAmong(mayControl, caller, groupTree),
    );
  }

  private async view(schedule: ScheduleSettings, state: ScheduleState): Promise<object> {
    const now = this.runtime.clock.now();
    const next = nextDue(schedule, Math.max(now, state.handledTo));
    return scheduleView(schedule, state, { next, outcome: await this.outcomeOf(schedule, state) });
  }

  /** By the lists, which may be a moment behind; null before the run has ended. */
  private async outcomeOf(schedule: ScheduleSettings, { last }: ScheduleState): Promise<string | null> {
    if (last === null) return null;
    const viewer = ownPrincipal(schedule, this.runtime.configurations.current().configuration);
    const run = await this.lists.projection.run(viewer, last.requestId);
    return run?.outcome ?? null;
  }
}
