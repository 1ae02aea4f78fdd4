/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import '../src/pages/notifications/notifications.js';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, show } from './page.js';

const hostile = '<script>alert(1)</script>';
const subscription = {
  ...{ name: 'desk', id: 'http-1', kind: 'webhook', made_by: 'http', url: `https://a.example/${hostile}` },
  ...{ events: ['run.failed'], tenants: ['acme'], outcomes: null, created_at: 1, created_by: 'user:ann', behind: 3 },
};
const slack = { ...subscription, name: 'ops', id: 'ops', kind: 'slack', made_by: 'configuration', url: null };
const answers = {
  'GET /v1/subscriptions': () => ({ subscriptions: [slack, subscription] }),
  'GET /v1/subscriptions/desk/deliveries': () => ({
    attempts: [{ id: 'evt_1', event: 'run.failed', subject: 'run-17', at: 1, failure: 'timeout' }],
    dead_letters: [{ id: '0-7', code: 'retries_exhausted', failed_at: 2 }],
  }),
};

describe('The notifications', () => {
  it('are listed, with what was delivered and a way to send again what was not', async () => {
    const user = userEvent.setup();
    show('/notifications', answers, operator);
    const table = await screen.findByRole('table', { name: 'Subscriptions' });
    for (const text of ['desk', 'Slack', `webhook to ${subscription.url}`, 'over HTTP by user:ann'])
      expect(within(table).getByText(text)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Deliveries of desk' }));
    const attempts = await screen.findByRole('table', { name: 'Attempts of desk' });
    expect(within(attempts).getByText('timeout')).toBeTruthy();
    const dead = screen.getByRole('table', { name: 'Not received by desk' });
    expect(within(dead).getByRole('link', { name: '0-7' }).getAttribute('href')).toBe('/dead-letters?letter=0-7');
  });

  it('show how to begin where there are none, and are for operators', async () => {
    show('/notifications', { 'GET /v1/subscriptions': () => ({ subscriptions: [] }) }, operator);
    expect(await screen.findByText('No one is notified.')).toBeTruthy();
  });

  it('are for operators', async () => {
    show('/notifications', answers, ann);
    expect(await screen.findByText('Notifications are for operators.')).toBeTruthy();
  });
});
