import { parseArgs } from 'node:util';
import { printable, suggestion } from '@sluice/core';
import type { ScheduleSettings } from '@sluice/core';
import { nextDue } from '@sluice/configuration';
import {
  configurationsOn,
  inForceOf,
  newState,
  pausedBy,
  resumed,
  runNow,
  scheduledRequestId,
  ScheduleStates,
  scheduleView,
} from '@sluice/run';
import type { ScheduleState } from '@sluice/run';
import { openBus, openLedger, requireLog, requireSharedLedger, systemClock, verifierIfAny } from '@sluice/host';
import { printJson } from '../json-answer.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice schedules list [--json]
  Lists the schedules of the configuration in force: when each is due next, its last run, and whether it is paused. --json prints
  {schedules}.
sluice schedules pause NAME [--json]
sluice schedules resume NAME [--json]
  Has a schedule start nothing at its due times, or start runs again; what was due meanwhile is not made up for. --json prints the
  schedule.
sluice schedules run NAME [--json]
  Has a filter start a run of the schedule now. --json prints {request_id, status}.`;

/** Who works with the command line has the database of the ledger. */
const by = 'operator';

interface Opened {
  readonly schedules: readonly ScheduleSettings[];
  readonly states: ScheduleStates;
}

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const options = { json: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [action, ...words] = positionals;
  const changes: Readonly<Record<string, (state: ScheduleState, now: number) => ScheduleState | null>> = {
    pause: (state, now) => pausedBy(state, by, now),
    resume: resumed,
    run: (state, now) => runNow(state, by, now),
  };
  if (action === 'list') {
    refuseSurplus({ values, words }, { taken: ['json'], words: 0 }, usage);
    return opened(context, (given) => list(given, values.json, context));
  }
  const change = Object.hasOwn(changes, action ?? '') ? changes[action ?? ''] : undefined;
  if (change === undefined) throw new Error(`${sayWhat('schedules', action)}\n${usage}`);
  refuseSurplus({ values, words }, { taken: ['json'], words: 1 }, usage);
  const [name] = words;
  if (name === undefined) throw new Error(`Name a schedule.\n${usage}`);
  return opened(context, async ({ schedules, states }) => {
    const schedule = schedules.find((one) => one.name === name);
    if (schedule === undefined) {
      const there = suggestion(name, schedules.map((one) => one.name)); // prettier-ignore
      throw new Error(`There is no schedule ${printable(name)}.${schedules.length === 0 ? '' : ` Write ${there}.`}`);
    }
    const now = systemClock.now();
    const state = await states.change(name, schedules, (before) => change(before, now));
    if (state === null) throw new Error('As many runs of this schedule wait as may. Try again when they have begun.');
    if (action === 'run') return said(name, now, values.json, context);
    if (values.json) printJson(context, viewOf(schedule, state));
    else context.write(`The schedule ${name} ${state.paused === null ? 'starts runs' : 'is paused'}.\n`);
  });
}

function said(name: string, now: number, json: boolean, context: CommandContext): void {
  const request_id = scheduledRequestId(name, { due: now, by });
  if (json) printJson(context, { request_id, status: 'queued' });
  else context.write(`A filter starts the run ${request_id}.\n`);
}

async function list({ schedules, states }: Opened, json: boolean, context: CommandContext): Promise<void> {
  const { states: all } = await states.read();
  const views = schedules.map((schedule) => viewOf(schedule, all.get(schedule.name) ?? newState));
  if (json) return printJson(context, { schedules: views });
  if (views.length === 0) context.write('There are no schedules: schedule.<name> of the configuration makes them.\n');
  const when = (time: number | null): string => (time === null ? 'not due' : `due ${new Date(time).toISOString()}`);
  for (const { name, cron, time_zone, next_due, paused_by, waiting, last_run } of views) {
    const state = paused_by === null ? when(next_due) : `paused by ${printable(paused_by)}`;
    const last = last_run === null ? '' : `; last run ${last_run.request_id}`;
    context.print(`${name}  ${cron}  ${time_zone}  ${state}${waiting === 0 ? '' : `; ${waiting} wait`}${last}\n`);
  }
}

function viewOf(schedule: ScheduleSettings, state: ScheduleState) {
  const next = nextDue(schedule, Math.max(systemClock.now(), state.handledTo));
  return scheduleView(schedule, state, { next, outcome: null });
}

async function opened(context: CommandContext, work: (given: Opened) => Promise<void>): Promise<number> {
  const { environment, log } = context;
  requireLog(environment);
  requireSharedLedger(environment);
  const { bus } = await openBus(environment, log);
  try {
    const current = inForceOf(await configurationsOn(bus, verifierIfAny(environment)));
    const { ledger } = await openLedger(environment, log);
    try {
      await work({ schedules: current?.read().schedules ?? [], states: new ScheduleStates(ledger.documents) });
      return 0;
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
}
