import { describe, expect, it } from '@jest/globals';
import { dueTimes } from '@sluice/configuration';
import type { Configuration, ScheduleSettings } from '@sluice/core';
import {
  correctedState,
  entriesSince,
  jitterOf,
  newState,
  pausedBy,
  resumed,
  runNow,
  scheduledRequestId,
  scheduleEntries,
  withDue,
  withoutHead,
} from '@sluice/run';
import type { ScheduleState } from '@sluice/run';

const hourly: ScheduleSettings = {
  ...{ name: 'hourly', principal: 'service:reports', tenant: 'acme', question: 'How is it?' },
  ...{ cron: '0 * * * *', timeZone: 'Europe/Berlin', jitterMs: 0, overlap: 'skip', catchUp: 'all' },
};
const at = (time: string): number => Date.parse(`2026-10-25T${time}Z`);

function decided(now: string, state: ScheduleState = newState, more: Partial<ScheduleSettings> = {}, since = '00:10') {
  return withDue(state, { ...hourly, ...more }, { since: at(since), now: at(now), dues: dueTimes });
}

const queued = (state: ScheduleState | undefined): readonly string[] =>
  (state?.queue ?? []).map(({ due }) => new Date(due).toISOString().slice(11, 16));

describe('what is due', () => {
  it('is queued once, however often one looks, and over the hour that comes twice', () => {
    const first = decided('01:00:01');
    expect(queued(first?.state)).toEqual(['01:00']);
    expect(decided('01:00:02', first?.state)).toBeNull();
    const second = decided('02:00:00', first?.state);
    expect(queued(second?.state)).toEqual(['01:00', '02:00']);
  });

  it('is queued no second time after the clock was set back', () => {
    const { state } = decided('02:00:30') ?? {};
    expect(decided('01:00:30', state)).toBeNull();
    expect(decided('02:00:10', state)).toBeNull();
    expect(queued(decided('03:00:00', state)?.state).at(-1)).toBe('03:00');
  });

  it('comes again once a clock is right that was a year ahead, and not for one that was set back by less', () => {
    const wrong = { ...newState, handledTo: at('01:00') + 365 * 24 * 3_600_000 };
    expect(decided('02:00:05', wrong)).toBeNull();
    expect(queued(decided('02:00:05', correctedState(wrong, at('01:00:10')))?.state)).toEqual(['02:00']);
    const { state = newState } = decided('02:00:30') ?? {};
    expect(correctedState(state, at('01:00:30'))).toBe(state);
  });

  it.each([
    ['all', ['01:00', '02:00', '03:00'], 0],
    ['last', ['03:00'], 2],
    ['none', [], 3],
  ] as const)(
    'and was missed, as while the clock was set forward, is made up for by catch_up: %s',
    (catchUp, is, skips) => {
      const planned = decided('03:30', newState, { catchUp });
      expect(queued(planned?.state)).toEqual(is);
      expect(planned?.skipped.map(({ reason }) => reason)).toEqual(Array(skips).fill('missed'));
      expect(planned?.state.handledTo).toBe(at('03:00'));
    },
  );

  it('and comes just now is started beside what is made up for', () => {
    expect(queued(decided('03:00:05', newState, { catchUp: 'none' })?.state)).toEqual(['03:00']);
    expect(queued(decided('03:00:05', newState, { catchUp: 'last' })?.state)).toEqual(['02:00', '03:00']);
  });

  it('before the schedule came into force is none of its', () => {
    expect(decided('03:00:05', newState, {}, '03:00')).toBeNull();
  });

  it('is bounded: 100 wait at most, and more are skipped', () => {
    const planned = decided('03:00', newState, { cron: '* * * * *' });
    expect(planned?.state.queue).toHaveLength(100);
    expect(planned?.state.handledTo).toBe(at('03:00'));
    const more = decided('03:01', planned?.state, { cron: '* * * * *' });
    expect(more?.skipped).toEqual([{ reason: 'queue_full', due: at('03:01') }]);
  });

  it('while it is paused is skipped, and not made up for once it goes on', () => {
    const paused = pausedBy(newState, 'user:ann', at('00:30'));
    const planned = decided('01:00:01', paused);
    expect(planned?.skipped).toEqual([{ reason: 'paused', due: at('01:00') }]);
    expect(decided('02:30', resumed(paused, at('02:20')))).toBeNull();
    expect(queued(decided('03:00:01', resumed(paused, at('02:20')))?.state)).toEqual(['03:00']);
  });

  it('begins up to jitter_seconds later, the same for every filter and never beyond', () => {
    const jittered = { name: 'hourly', jitterMs: 600_000 };
    const offset = jitterOf(jittered, at('01:00'));
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThanOrEqual(600_000);
    expect(jitterOf(jittered, at('01:00'))).toBe(offset);
    const look = (ms: number) =>
      withDue(newState, { ...hourly, ...jittered }, { since: at('00:10'), now: at('01:00') + ms, dues: dueTimes });
    expect(look(offset - 1)).toBeNull();
    expect(look(offset)?.state.queue).toEqual([{ due: at('01:00') }]);
  });
});

describe('a run that is asked for now', () => {
  it('is queued behind what waits, under an id of its own, though it be paused', () => {
    const state = { ...pausedBy(newState, 'user:ann', 1), queue: [{ due: 5 }] };
    const asked = runNow(state, 'user:ann', 7);
    expect(asked?.queue).toEqual([{ due: 5 }, { due: 7, by: 'user:ann' }]);
    expect(scheduledRequestId('hourly', { due: 7, by: 'user:ann' })).not.toBe(scheduledRequestId('hourly', { due: 7 }));
    expect(scheduledRequestId('hourly', { due: 7 })).toBe('schedule-hourly-7');
  });

  it('is refused where 100 wait', () => {
    const queue = Array.from({ length: 100 }, (_, due) => ({ due }));
    expect(runNow({ ...newState, queue }, 'user:ann', 7)).toBeNull();
  });
});

it('leaves the queue once it is started or skipped, and what was started last stays', () => {
  const state = { ...newState, queue: [{ due: 5 }, { due: 6 }] };
  const last = { due: 5, requestId: 'schedule-hourly-5', startedAt: 9 };
  const next = withoutHead(state, { due: 5 }, last);
  expect(next).toMatchObject({ queue: [{ due: 6 }], last });
  expect(withoutHead(next, { due: 6 }, null)).toMatchObject({ queue: [], last });
});

describe('when a schedule came into force', () => {
  const version = (name: string, appliedAt: number, ...schedules: readonly Partial<ScheduleSettings>[]) => ({
    ...{ version: name, appliedAt },
    read: () => ({ version: name, schedules: schedules.map((one) => ({ ...hourly, ...one })) }) as never,
  });

  const scheduledSince = (one: object, all: readonly ReturnType<typeof version>[]) =>
    entriesSince(one as Configuration, all, scheduleEntries);

  it('is when it first stood there as it is, without a gap', () => {
    const all = [version('a', 1, {}), version('b', 2), version('c', 3, {}), version('d', 4, {}, { name: 'new' })];
    const current = { version: 'd', schedules: [hourly, { ...hourly, name: 'new' }] };
    expect([...scheduledSince(current, all)]).toEqual([
      ['hourly', 3],
      ['new', 4],
    ]);
  });

  it('is when its times or its time zone changed; another question changes nothing', () => {
    const all = [version('a', 1, {}), version('b', 2, { question: 'Why?' }), version('c', 3, { cron: '5 * * * *' })];
    expect(scheduledSince({ version: 'b', schedules: [{ ...hourly, question: 'Why?' }] }, all).get('hourly')).toBe(1);
    expect(scheduledSince({ version: 'c', schedules: [{ ...hourly, cron: '5 * * * *' }] }, all).get('hourly')).toBe(3);
  });
});
