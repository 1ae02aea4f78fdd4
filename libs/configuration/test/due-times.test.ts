import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, dueTimes, nextDue } from '@sluice/configuration';
import { sampleInputs } from './sample-inputs.js';

const berlin = { timeZone: 'Europe/Berlin' };
const times = (cron: string, after: string, to: string, more: object = {}, most = 100): readonly string[] =>
  dueTimes({ cron, ...berlin, ...more }, Date.parse(after), Date.parse(to), most).map((time) =>
    new Date(time).toISOString().replace(':00.000Z', 'Z'),
  );

describe('the due times of a schedule in Europe/Berlin', () => {
  it('have a fixed time of day in the gap of spring right behind the gap, once', () => {
    expect(times('30 2 * * *', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
  });

  it('have a fixed time of day that comes twice in autumn once', () => {
    expect(times('30 2 * * *', '2026-10-24T00:00Z', '2026-10-27T00:00Z')).toEqual([
      '2026-10-24T00:30Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
  });

  it.each([
    ['2026-03-28T23:59Z', '2026-03-29T03:00Z', 4],
    ['2026-10-24T23:59Z', '2026-10-25T03:00Z', 4],
  ])('leave no hour of an hourly one out and make none twice: from %s', (after, to, count) => {
    expect(new Set(times('0 * * * *', after, to)).size).toBe(count);
    expect(times('0 * * * *', after, to)).toHaveLength(count);
  });

  it('are the last ones where there are more, and none before `from` or at `until`', () => {
    const minutes = ['2026-01-01T10:00Z', '2026-01-01T12:00Z'] as const;
    expect(times('* * * * *', ...minutes, {}, 2)).toEqual(['2026-01-01T11:59Z', '2026-01-01T12:00Z']);
    const span = { from: Date.parse('2026-01-01T11:57Z'), until: Date.parse('2026-01-01T11:59Z') };
    expect(times('* * * * *', ...minutes, span)).toEqual(['2026-01-01T11:57Z', '2026-01-01T11:58Z']);
  });

  it('say which one is next, which is none behind `until`', () => {
    const at = (cron: string, after: string, more: object = {}) =>
      nextDue({ cron, ...berlin, ...more }, Date.parse(after));
    expect(at('0 9 * * *', '2026-07-01T07:00Z')).toBe(Date.parse('2026-07-02T07:00Z'));
    expect(at('0 9 * * *', '2026-07-01T06:59:59Z')).toBe(Date.parse('2026-07-01T07:00Z'));
    const from = Date.parse('2026-07-05T07:00Z');
    expect(at('0 9 * * *', '2026-07-01T07:00Z', { from })).toBe(from);
    expect(at('0 9 * * *', '2026-07-01T07:00Z', { until: Date.parse('2026-07-02T07:00Z') })).toBeNull();
  });
});

it.each([
  ['0 7 * * 1-5', null],
  ['0 7 L * MON#2', null],
  ['0 7 29 2 *', null],
  ['0 7 30 2 *', 'never due'],
  ['0 0 7 * * *', 'five fields'],
  ['60 7 * * *', 'five fields'],
  // It would be refused from that day on, at the next start.
  ['2126-11-30T07:00:00', 'five fields'],
  ['@daily', 'five fields'],
])('cron: %s is refused or not: %s', (cron, problem) => {
  const tool = { text: { type: 'text-completion', group: ['basic'] } };
  const asked = { question: 'What now?', groups: ['basic'], principal: 'service:reports', tenant: 'acme' };
  const { problems } = compileConfiguration(
    { tool, policy: { allowed_tools: ['text'] }, schedule: { one: { cron, ...asked } } },
    sampleInputs,
  );
  expect(problems).toEqual(
    problem === null
      ? []
      : [expect.objectContaining({ path: 'schedule.one.cron', found: expect.stringContaining(problem) })],
  );
});
