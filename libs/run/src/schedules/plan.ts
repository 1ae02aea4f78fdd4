import type { Configuration, ScheduleSettings } from '@sluice/core';
import { sha256 } from '@sluice/contracts';

/** A run that is to be started: at its due time, or as someone asks for it. */
export interface QueuedStart {
  /** Milliseconds since the epoch. */
  readonly due: number;
  /** Who asked for it; absent for a due time. */
  readonly by?: string;
}

/** The run that was started last. */
export interface StartedRun extends QueuedStart {
  readonly requestId: string;
  readonly startedAt: number;
}

/** What is kept of a schedule in the ledger’s database. */
export interface ScheduleState {
  /** Due times up to then are decided on, milliseconds since the epoch. */
  readonly handledTo: number;
  readonly paused: { readonly by: string; readonly at: number } | null;
  /** Those to start next, in order. They are kept before anything is published. */
  readonly queue: readonly QueuedStart[];
  readonly last: StartedRun | null;
}

/** Runs of a schedule that wait to be started. */
export const mostQueued = 100;
/** A due time that no filter saw for so long was missed, milliseconds. */
const missedAfterMs = 60_000;
/** By so much a clock was ahead that had been wrong, milliseconds. */
const farAheadMs = 3_600_000;

/** The due times after one and up to another, the oldest first; of more than `most` the last ones. */
type DueTimes = (schedule: ScheduleSettings, after: number, to: number, most: number) => readonly number[];

type SkipReason = 'missed' | 'paused' | 'overlap' | 'queue_full';

export interface Skipped {
  readonly reason: SkipReason;
  readonly due: number;
}

interface Planned {
  readonly state: ScheduleState;
  readonly skipped: readonly Skipped[];
}

export const newState: ScheduleState = { handledTo: -Infinity, paused: null, queue: [], last: null };

/** How much later than its due time a run begins: for every filter the same. */
export function jitterOf({ name, jitterMs }: Pick<ScheduleSettings, 'name' | 'jitterMs'>, due: number): number {
  if (jitterMs === 0) return 0;
  return Number.parseInt(sha256(`${name}/${String(due)}`).slice(0, 8), 16) % (jitterMs + 1);
}

/**
 * Decides on the due times that have come: into the queue, or skipped. `since`: when the schedule came into force as
 * it is; what was due before is none of its. Null if none has come. A clock that was set back brings none again.
 */
export function withDue(
  state: ScheduleState,
  schedule: ScheduleSettings,
  { since, now, dues }: { readonly since: number; readonly now: number; readonly dues: DueTimes },
): Planned | null {
  const come: number[] = [];
  for (const due of dues(schedule, Math.max(state.handledTo, since), now, mostQueued)) {
    if (due + jitterOf(schedule, due) > now) break;
    come.push(due);
  }
  const handledTo = come.at(-1);
  if (handledTo === undefined) return null;
  if (state.paused !== null)
    return { state: { ...state, handledTo }, skipped: come.map((due) => ({ reason: 'paused', due })) };
  const missed = come.filter((due) => due + jitterOf(schedule, due) < now - missedAfterMs);
  const dropped = new Set(droppedOf(missed, schedule));
  const wanted = come.filter((due) => !dropped.has(due));
  const room = Math.max(0, mostQueued - state.queue.length);
  return {
    state: { ...state, handledTo, queue: [...state.queue, ...wanted.slice(0, room).map((due) => ({ due }))] },
    skipped: [
      ...[...dropped].map((due) => ({ reason: 'missed', due }) as const),
      ...wanted.slice(room).map((due) => ({ reason: 'queue_full', due }) as const),
    ],
  };
}

/**
 * The state once a clock that was far ahead is right again: the due times up to then are still to come. Those whose
 * runs began meanwhile begin none again, since their request_ids are known.
 */
export function correctedState(state: ScheduleState, now: number): ScheduleState {
  return state.handledTo > now + farAheadMs ? { ...state, handledTo: now } : state;
}

function droppedOf(missed: readonly number[], { catchUp }: Pick<ScheduleSettings, 'catchUp'>): readonly number[] {
  switch (catchUp) {
    case 'none':
      return missed;
    case 'last':
      return missed.slice(0, -1);
    case 'all':
      return [];
  }
}

/** Without the start at the head of the queue, which was started as `last` says, or skipped where that is null. */
export function withoutHead(state: ScheduleState, head: QueuedStart, last: StartedRun | null): ScheduleState {
  const queue = state.queue.filter(({ due, by }) => due !== head.due || by !== head.by);
  return { ...state, queue, last: last ?? state.last };
}

export function pausedBy(state: ScheduleState, by: string, at: number): ScheduleState {
  return { ...state, paused: state.paused ?? { by, at } };
}

/** What was due while it was paused is not made up for. */
export function resumed(state: ScheduleState, now: number): ScheduleState {
  if (state.paused === null) return state;
  return { ...state, paused: null, handledTo: Math.max(state.handledTo, now) };
}

/** Null where too many wait already. */
export function runNow(state: ScheduleState, by: string, now: number): ScheduleState | null {
  if (state.queue.length >= mostQueued) return null;
  const isThere = state.queue.some((one) => one.due === now && one.by === by);
  return isThere ? state : { ...state, queue: [...state.queue, { due: now, by }] };
}

/** Each schedule by its name, with what says when it is due: with another time it is another schedule. */
export function scheduleEntries({ schedules = [] }: Pick<Configuration, 'schedules'>): ReadonlyMap<string, string> {
  return new Map(schedules.map(({ name, cron, timeZone }) => [name, JSON.stringify([cron, timeZone])]));
}

export const scheduleSession = (name: string): string => `schedule-${name}`;

/** Follows from the due time, so a start that is published twice is one run. */
export function scheduledRequestId(name: string, { due, by }: QueuedStart): string {
  if (by === undefined) return `schedule-${name}-${String(due)}`;
  return `schedule-${name}-${String(due)}-${sha256(by).slice(0, 8)}`;
}
