import { parseArgs } from 'node:util';
import { clockSkewMs, localPrincipal, printable, suggestion } from '@sluice/core';
import type { ScheduleSettings } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { nextDue } from '@sluice/configuration';
import {
  configurationsOn,
  GenuineEnds,
  inForceOf,
  newState,
  ownPrincipal,
  pausedBy,
  resumed,
  runNow,
  scheduledRequestId,
  scheduleSession,
  ScheduleStates,
  scheduleView,
  tenantOf,
} from '@sluice/run';
import type { ScheduleState } from '@sluice/run';
import { openBus, openLedger, requireLog, requireSharedLedger, systemClock, verifierIfAny } from '@sluice/host';
import { printJson } from '../json-answer.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice schedules list [--json]
  Lists the schedules of the configuration in force: when each is due next, how its last run ended, and whether it is
  paused. --json prints {schedules}.
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
  /** Without ends of runs that no service signed. */
  readonly log: LogReader;
  /** Whose runs those of a schedule are. */
  tenantOf(schedule: ScheduleSettings): string;
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
  return opened(context, async ({ schedules, states, log, tenantOf: ofSchedule }) => {
    const schedule = schedules.find((one) => one.name === name);
    if (schedule === undefined) {
      const there = suggestion(name, schedules.map((one) => one.name)); // prettier-ignore
      throw new Error(`There is no schedule ${printable(name)}.${schedules.length === 0 ? '' : ` Write ${there}.`}`);
    }
    const now = systemClock.now();
    const state = await states.change(name, schedules, (before) => change(before, now));
    if (state === null) throw new Error('As many runs of this schedule wait as may. Try again when they have begun.');
    if (action === 'run') return said(name, now, values.json, context);
    const outcomes = values.json ? await outcomesOf([{ schedule, state }], log, ofSchedule) : null;
    if (values.json) printJson(context, viewOf(schedule, state, outcomes?.get(name)));
    else context.write(`The schedule ${name} ${state.paused === null ? 'starts runs' : 'is paused'}.\n`);
  });
}

function said(name: string, now: number, json: boolean, context: CommandContext): void {
  const request_id = scheduledRequestId(name, { due: now, by });
  if (json) printJson(context, { request_id, status: 'queued' });
  else context.write(`A filter starts the run ${request_id}.\n`);
}

async function list(
  { schedules, states, log, tenantOf: ofSchedule }: Opened,
  json: boolean,
  context: CommandContext,
): Promise<void> {
  const { states: all } = await states.read();
  const found = schedules.map((schedule) => ({ schedule, state: all.get(schedule.name) ?? newState }));
  const outcomes = await outcomesOf(found, log, ofSchedule);
  const views = found.map(({ schedule, state }) => viewOf(schedule, state, outcomes.get(schedule.name)));
  if (json) return printJson(context, { schedules: views });
  if (views.length === 0) context.write('There are no schedules: schedule.<name> of the configuration makes them.\n');
  const when = (time: number | null): string => (time === null ? 'not due' : `due ${new Date(time).toISOString()}`);
  for (const { name, cron, time_zone, next_due, paused_by, waiting, last_run } of views) {
    const state = paused_by === null ? when(next_due) : `paused by ${printable(paused_by)}`;
    const last = last_run === null ? '' : `; last run ${last_run.request_id}: ${last_run.outcome ?? 'running'}`;
    context.print(`${name}  ${cron}  ${time_zone}  ${state}${waiting === 0 ? '' : `; ${waiting} wait`}${last}\n`);
  }
}

/** How the last runs ended, by the names of the schedules: from the log, of those that have ended. */
async function outcomesOf(
  all: readonly { readonly schedule: ScheduleSettings; readonly state: ScheduleState }[],
  log: LogReader,
  ofSchedule: Opened['tenantOf'],
): Promise<ReadonlyMap<string, string>> {
  const begun = all.flatMap(({ schedule, state: { last } }) =>
    last === null ? [] : [{ name: schedule.name, tenant: ofSchedule(schedule), ...last }],
  );
  const found = new Map<string, string>();
  if (begun.length === 0) return found;
  const keys = new Set(begun.map(({ name }) => scheduleSession(name)));
  const time = Math.min(...begun.map(({ startedAt }) => startedAt)) - clockSkewMs;
  const options = { from: { time }, ofKey: (key: string) => keys.has(key), onUndecodable: () => undefined } as const;
  for await (const message of log.read([topics.responses], options)) {
    const { requestId, error } = message.record;
    const tenant = tenantOf(message) ?? localPrincipal.tenantId;
    const of = begun.find((one) => one.requestId === requestId && one.tenant === tenant);
    if (of !== undefined) found.set(of.name, error?.code ?? 'answer');
  }
  return found;
}

function viewOf(schedule: ScheduleSettings, state: ScheduleState, outcome: string | null = null) {
  const next = nextDue(schedule, Math.max(systemClock.now(), state.handledTo));
  return scheduleView(schedule, state, { next, outcome });
}

async function opened(context: CommandContext, work: (given: Opened) => Promise<void>): Promise<number> {
  const { environment, log } = context;
  requireLog(environment);
  requireSharedLedger(environment);
  const { bus } = await openBus(environment, log);
  const verifier = verifierIfAny(environment);
  try {
    const configuration = inForceOf(await configurationsOn(bus, verifier))?.read();
    const { ledger } = await openLedger(environment, log);
    try {
      await work({
        ...{ schedules: configuration?.schedules ?? [], states: new ScheduleStates(ledger.documents) },
        log: new GenuineEnds(bus, verifier, log),
        tenantOf: (schedule) =>
          configuration === undefined ? schedule.tenant : ownPrincipal(schedule, configuration).tenantId,
      });
      return 0;
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
}
