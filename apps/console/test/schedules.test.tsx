/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { ListedSchedule } from '@sluice/client';
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { problem, show } from './page.js';

const at = Date.now();
const schedule = (more: Partial<ListedSchedule> = {}): ListedSchedule => ({
  ...{ name: 'morning', tenant: 'acme', principal: 'service:reports', cron: '0 7 * * *', time_zone: 'Europe/Berlin' },
  ...{ overlap: 'skip', catch_up: 'last', next_due: at + 60_000, paused_by: null, paused_at: null, waiting: 0 },
  last_run: { request_id: 'schedule-morning-1', due: at, started_at: at, started_by: null, outcome: 'model_failed' },
  ...more,
});
const paused = { paused_by: 'user:ann', paused_at: at, next_due: null };
const row = () => within(screen.getByText('morning').closest('tr') as HTMLElement);

describe('The schedules', () => {
  it('are listed with how the last run ended, paused, resumed and run now', async () => {
    const user = userEvent.setup();
    let isPaused = false;
    const { asked } = show('/schedules', {
      'GET /v1/schedules': () => ({ schedules: [schedule(isPaused ? paused : {})] }),
      'POST /v1/schedules/morning/pause': () => schedule(((isPaused = true), paused)),
      'POST /v1/schedules/morning/resume': () => schedule(((isPaused = false), {})),
      'POST /v1/schedules/morning/run': () => ({ request_id: 'r', status: 'queued' }),
    });
    await screen.findByText('morning');
    expect(row().getByText('0 7 * * *')).toBeTruthy();
    expect(row().getByText('model_failed')).toBeTruthy();
    expect(row().getByRole('link').getAttribute('href')).toBe('/runs/schedule-morning-1');
    await user.click(row().getByRole('button', { name: 'Pause morning' }));
    await waitFor(() => expect(row().getByText('paused by user:ann')).toBeTruthy());
    await user.click(row().getByRole('button', { name: 'Run morning now' }));
    await waitFor(() => expect(asked).toContain('POST /v1/schedules/morning/run'));
    await user.click(await row().findByRole('button', { name: 'Resume morning' }));
    await waitFor(() => expect(row().queryByText('paused by user:ann')).toBeNull());
  });

  it('say why an action was refused, and how one is written where there is none', async () => {
    const user = userEvent.setup();
    show('/schedules', {
      'GET /v1/schedules': () => ({ schedules: [schedule({ last_run: null, waiting: 2 })] }),
      'POST /v1/schedules/morning/run': () => problem(409, 'conflict', 'As many runs of this schedule wait as may.'),
    });
    await screen.findByText('2 to start');
    await user.click(row().getByRole('button', { name: 'Run morning now' }));
    expect(await screen.findByText(/As many runs of this schedule wait/)).toBeTruthy();
    show('/schedules', { 'GET /v1/schedules': () => ({ schedules: [] }) });
    expect(await screen.findByText('There is no schedule that you may control.')).toBeTruthy();
  });
});
