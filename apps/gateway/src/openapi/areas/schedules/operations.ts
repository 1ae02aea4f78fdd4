import { at } from '../../example.js';
import type { JsonSchema } from '../../json-schema.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import { ref } from '../../record-schemas.js';
import { list, object, text, textOrNull, time, timeOrNull, whole } from '../../schema-parts.js';

const listed = {
  name: 'morning-report',
  tenant: 'acme',
  principal: 'service:reports',
  cron: '0 7 * * 1-5',
  time_zone: 'Europe/Berlin',
  overlap: 'skip',
  catch_up: 'last',
  next_due: at + 3_600_000,
  paused_by: null,
  paused_at: null,
  waiting: 0,
  last_run: {
    request_id: `schedule-morning-report-${at}`,
    due: at,
    started_at: at + 400,
    started_by: null,
    outcome: 'answer',
  },
};
const places = { name: 'Names the schedule.' };
const refusals = [400, 401, 403, 404, 409, 413, 415, 500, 503];
const paused = { ...listed, next_due: null, paused_by: 'user:ann', paused_at: at };

/** Runs that start by themselves. */
export const scheduleOperations: readonly Operation[] = [
  {
    ...{ id: 'listSchedules', client: 'schedules.list', who: 'caller', tag: 'Operations' },
    ...{ method: 'get', path: '/v1/schedules' },
    summary: 'List schedules',
    description:
      'The schedules of the configuration in force: when each is due next, how its last run ended, and whether it is paused. Of an operator all; of others those of their tenant whose `may_control` names them.',
    answers: json('ScheduleList', 'The schedules.'),
    example: { answers: { 200: { schedules: [listed] } } },
    refusals: [401, 403, 500, 503],
  },
  {
    ...{ id: 'pauseSchedule', client: 'schedules.pause', who: 'caller', tag: 'Operations', isRepeatable: true },
    ...{ method: 'post', path: '/v1/schedules/{name}/pause' },
    summary: 'Pause a schedule',
    description: 'It starts nothing at its due times until it is resumed. What was due meanwhile is not made up for.',
    places,
    answers: json('ListedSchedule', 'The schedule.'),
    example: { places: { name: listed.name }, answers: { 200: paused } },
    refusals,
  },
  {
    ...{ id: 'resumeSchedule', client: 'schedules.resume', who: 'caller', tag: 'Operations', isRepeatable: true },
    ...{ method: 'post', path: '/v1/schedules/{name}/resume' },
    summary: 'Resume a schedule',
    description: 'It starts runs again, from the next due time on.',
    places,
    answers: json('ListedSchedule', 'The schedule.'),
    example: { places: { name: listed.name }, answers: { 200: listed } },
    refusals,
  },
  {
    ...{ id: 'runSchedule', client: 'schedules.run', who: 'caller', tag: 'Operations' },
    ...{ method: 'post', path: '/v1/schedules/{name}/run' },
    summary: 'Run a schedule now',
    description: 'Queues a run, though the schedule is paused. Its `overlap` holds for it too.',
    places,
    answers: { 202: { meaning: 'A filter starts it.', json: 'QueuedRun' } },
    example: {
      places: { name: listed.name },
      answers: { 202: { request_id: `schedule-morning-report-${at}-1a2b3c4d`, status: 'queued' } },
    },
    refusals,
  },
];

export function scheduleSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ScheduleList: object('The schedules that the caller may control.', {
      schedules: list(ref('ListedSchedule'), 'In the order of the configuration.'),
    }),
    ListedSchedule: object('A schedule of the configuration in force.', {
      name: text('Names it.'),
      tenant: text('Whose its runs are.'),
      principal: text('As whom they ask.'),
      cron: text('When a run is due.'),
      time_zone: text('The time zone in which that is read.'),
      overlap: { enum: ['skip', 'queue', 'cancel'], description: 'What happens if the run before has not ended.' },
      catch_up: { enum: ['none', 'last', 'all'], description: 'Which missed due times are made up for.' },
      next_due: timeOrNull('The next due time; null if there is none, or while it is paused.'),
      paused_by: textOrNull('Who paused it; null while it is not.'),
      paused_at: timeOrNull('Since when it is paused.'),
      waiting: whole('Runs that are due and not started yet.'),
      last_run: {
        anyOf: [ref('ScheduledRun'), { type: 'null' }],
        description: 'The run that was started last; null before the first.',
      },
    }),
    ScheduledRun: object('A run that a schedule started.', {
      request_id: text('The run.'),
      due: time('When it was due.'),
      started_at: time('When it was started.'),
      started_by: textOrNull('Who asked for it; null where it was due.'),
      outcome: textOrNull('`answer` or the code of its error, as lists of runs have it; null before it has ended.'),
    }),
    QueuedRun: object('A run that is started next.', {
      request_id: text('The run.'),
      status: { enum: ['queued'], description: 'A filter starts it.' },
    }),
  };
}
