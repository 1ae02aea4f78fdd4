/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { ListedStanding } from '@sluice/client';
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, problem, show } from './page.js';
import { details, waiting } from './waiting.js';

const hourMs = 3_600_000;
const standing = (id: string, more: Partial<ListedStanding> = {}): ListedStanding => ({
  ...{ standing_id: id, tool: 'core__send-money', tool_key: `send-${id}`, bounds: { amount: { maximum: 100 } } },
  ...{ session_id: '', user: 'user:eve', until: Date.now() + hourMs, calls: 20, used: 3, given_by: 'user:ann' },
  ...{ given_for: null, reason: 'Invoices <b>of May</b>', given_at: Date.now(), revoked_by: null, revoked_at: null },
  ...{ revoked_because: null, ...more },
});
const revoked = { revoked_by: 'user:bob', revoked_at: Date.now(), revoked_because: 'Enough.' };
const rowOf = (text: string) => within(screen.getByText(text).closest('tr') as HTMLElement);

describe('The standing approvals', () => {
  it('are listed with their uses, as text, and revoked by a step that confirms', async () => {
    const user = userEvent.setup();
    let sent: unknown = null;
    const ended = standing('old', { until: Date.now() - 1, session_id: 's-9' });
    show('/approvals?tab=standing', {
      'GET /v1/approvals/standing': () => ({
        standing_approvals: [ended, standing('new', sent === null ? {} : revoked)],
      }),
      'POST /v1/approvals/standing/new/revoke': ({ body }) => {
        sent = body;
        return { standing_id: 'new', status: 'taken' };
      },
    });
    await screen.findByText('send-new');
    expect(rowOf('send-new').getByText('3 of 20')).toBeTruthy();
    expect(rowOf('send-new').getByText('{"amount":{"maximum":100}}')).toBeTruthy();
    expect(rowOf('send-new').getByText('Invoices <b>of May</b>')).toBeTruthy();
    expect(rowOf('send-old').getByText('user:eve in the session s-9')).toBeTruthy();
    expect(rowOf('send-old').getByText('ended')).toBeTruthy();
    // What has ended cannot be revoked.
    expect(rowOf('send-old').queryByRole('button')).toBeNull();
    await user.click(rowOf('send-new').getByRole('button', { name: 'Revoke' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Revoke this standing approval?' }));
    await user.keyboard('Enough.');
    await user.click(dialog.getByRole('button', { name: 'Revoke' }));
    await waitFor(() => expect(sent).toEqual({ reason: 'Enough.', decided_by: 'user:ann' }));
    await waitFor(() => expect(rowOf('send-new').getByText('revoked')).toBeTruthy());
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('are given within bounds, which must be JSON, and a refusal says why', async () => {
    const user = userEvent.setup();
    const sent: unknown[] = [];
    show('/approvals?tab=standing', {
      'GET /v1/approvals/standing': () => ({ standing_approvals: sent.length < 2 ? [] : [standing('new')] }),
      'POST /v1/approvals/standing': ({ body }) => {
        sent.push(body);
        if (sent.length > 1) return { standing_id: 'new', status: 'taken' };
        return problem(400, 'decision_not_taken', 'The unknown argument "amont".', { not_taken: 'invalid_standing' });
      },
    });
    expect(await screen.findByText('There is no standing approval.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Approve calls to come' }));
    const dialog = within(await screen.findByRole('dialog'));
    const give = dialog.getByRole('button', { name: 'Approve them' });
    await user.type(dialog.getByRole('textbox', { name: 'Tool' }), 'send-money');
    expect(give.hasAttribute('disabled')).toBe(true);
    await user.type(dialog.getByRole('textbox', { name: /^User/ }), 'user:eve');
    const bounds = dialog.getByRole('textbox', { name: /^Bounds/ });
    await user.click(bounds);
    await user.paste('[1]');
    expect(dialog.getByText('Bounds are an object, as { … }.')).toBeTruthy();
    expect(give.hasAttribute('disabled')).toBe(true);
    await user.clear(bounds);
    await user.click(bounds);
    await user.paste('{"amont": {"maximum": 9}}');
    const before = Date.now();
    await user.click(give);
    expect((await screen.findByRole('alert')).textContent).toContain('The unknown argument "amont".');
    expect(sent[0]).toMatchObject({
      ...{ tool: 'send-money', user: 'user:eve', session_id: '', calls: 100, bounds: '{"amont": {"maximum": 9}}' },
      decided_by: 'user:ann',
    });
    const { until } = sent[0] as { readonly until: number };
    expect(until - before).toBeGreaterThanOrEqual(hourMs);
    expect(until - Date.now()).toBeLessThanOrEqual(hourMs);
    await user.click(give);
    expect(await screen.findByText('send-new')).toBeTruthy();
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('are given from a call that waits, for its tool and its user', async () => {
    const user = userEvent.setup();
    show('/approvals', {
      'GET /v1/approvals': () => ({ approvals: [waiting(1)], next_cursor: null }),
      'GET /v1/approvals/a-1': () => details(1),
    });
    await user.click(await screen.findByRole('button', { name: 'Approve such calls …' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Approve calls to come' }));
    const field = (name: string | RegExp) => dialog.getByRole<HTMLInputElement>('textbox', { name }).value;
    expect([field('Tool'), field(/^User/), field(/^Session/)]).toEqual(['tool-1', 'user:bob', '']);
  });

  it('are shown to an operator who is no approver, and to others not at all', async () => {
    const answers = { 'GET /v1/approvals/standing': () => ({ standing_approvals: [standing('new')] }) };
    show('/approvals?tab=standing', answers, { ...operator, is_approver: false });
    await screen.findByText('send-new');
    expect(screen.queryByRole('button', { name: 'Revoke' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Approve calls to come' })).toBeNull();
    const { asked } = show('/approvals?tab=standing', answers, { ...ann, is_approver: false });
    expect(await screen.findByText('You decide on no calls.')).toBeTruthy();
    expect(asked).not.toContain('GET /v1/approvals/standing');
  });
});
