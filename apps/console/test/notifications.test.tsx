/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import type { Subscription } from '@sluice/client';
import { changeOf, draftOf, emptyDraft, isWhole, newOf } from '../src/pages/notifications/draft.js';
import '../src/pages/notifications/notifications.js';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, problem, show } from './page.js';

const hostile = '<script>alert(1)</script>';
const subscription = {
  ...{ name: 'desk', id: 'http-1', kind: 'webhook', made_by: 'http', url: `https://a.example/${hostile}` },
  ...{ include: [], retry_seconds: 60 },
  ...{
    events: ['run.failed'],
    tenants: ['acme'],
    agents: ['support'],
    outcomes: null,
    created_at: 1,
    created_by: 'user:ann',
    behind: 3,
  },
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
    expect(screen.queryByRole('button', { name: 'Make a subscription' })).toBeNull();
  });

  it('are made by operators, who see the secret once', async () => {
    const user = userEvent.setup();
    const bodies: unknown[] = [];
    const create = ({ body }: { readonly body: unknown }) =>
      bodies.push(body) === 1
        ? problem(400, 'invalid_request', 'agents names "supprt", which no agent has.')
        : { name: 'new', id: 'http-2', secret: 'whsec_new' };
    show('/notifications', { ...answers, 'POST /v1/subscriptions': create }, operator);
    await user.click(await screen.findByRole('button', { name: 'Make a subscription' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Make a subscription' }));
    const make = dialog.getByRole<HTMLButtonElement>('button', { name: 'Make it' });
    expect(make.disabled).toBe(true);
    await user.type(dialog.getByLabelText('Name'), 'new');
    await user.type(dialog.getByLabelText('Address'), 'https://b.example');
    await user.click(dialog.getByLabelText('run.failed'));
    await user.type(dialog.getByLabelText('Agents (optional)'), 'supprt, default');
    await user.click(make);
    expect((await dialog.findByRole('alert')).textContent).toContain('no agent has');
    await user.click(make);
    await screen.findByRole('dialog', { name: 'The secret of new' });
    expect(screen.getByRole('region', { name: 'Secret of new' }).textContent).toBe('whsec_new');
    await user.click(screen.getByRole('button', { name: 'I have it' }));
    expect(screen.queryByText('whsec_new')).toBeNull();
    expect(bodies[1]).toEqual({
      ...{ name: 'new', url: 'https://b.example', events: ['run.failed'], include: [], retry_seconds: 86_400 },
      ...{ tenants: null, agents: ['supprt', 'default'], outcomes: null },
    });
  });

  it('that were made over HTTP are changed, get a new secret and are deleted', async () => {
    const user = userEvent.setup();
    const given = {
      ...answers,
      'PATCH /v1/subscriptions/desk': () => subscription,
      'POST /v1/subscriptions/desk/secret': () => ({ name: 'desk', id: 'http-1', secret: 'whsec_next' }),
      'DELETE /v1/subscriptions/desk': () => ({ name: 'desk', status: 'deleted' }),
    };
    const { asked } = show('/notifications', given, operator);
    await user.click(await screen.findByRole('button', { name: 'Change desk' }));
    await user.click(await screen.findByRole('button', { name: 'Change it' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await user.click(screen.getByRole('button', { name: 'New secret for desk' }));
    await user.click(await screen.findByRole('button', { name: 'Give it one' }));
    expect((await screen.findByRole('region', { name: 'Secret of desk' })).textContent).toBe('whsec_next');
    await user.click(screen.getByRole('button', { name: 'I have it' }));
    await user.click(screen.getByRole('button', { name: 'Delete desk' }));
    expect(await screen.findByText(/what waits to be sent \(3 records\) is left out/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Delete it' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const changes = asked.filter((one) => !one.startsWith('GET'));
    expect(changes).toEqual(Object.keys(given).filter((one) => !one.startsWith('GET')));
    // What the configuration has is changed there.
    expect(screen.queryByRole('button', { name: 'Change ops' })).toBeNull();
  });
});

describe('The form of a subscription', () => {
  it('says all as the API does, and leaves nothing as it was that was emptied', () => {
    const draft = draftOf(subscription as unknown as Subscription);
    expect(draft).toMatchObject({ agents: 'support', outcomes: '', retrySeconds: '60' });
    expect(changeOf({ ...draft, tenants: ' ', agents: 'a, b,a' })).toEqual({
      ...{ url: subscription.url, events: ['run.failed'], include: [], retry_seconds: 60 },
      ...{ tenants: ['*'], agents: ['a', 'b'], outcomes: ['*'] },
    });
    expect(newOf(draft)).toMatchObject({ tenants: ['acme'], outcomes: null });
  });

  it.each([
    [{}, true],
    [{ url: ' ' }, false],
    [{ events: [] }, false],
    [{ retrySeconds: '0' }, false],
    [{ retrySeconds: '604801' }, false],
    [{ retrySeconds: '1e3' }, false],
  ])('with %j can be sent: %s', (more, is) => {
    const whole = { ...emptyDraft, name: 'desk', url: 'https://a.example', events: ['run.ended'] as const };
    expect(isWhole({ ...whole, ...more })).toBe(is);
  });
});
