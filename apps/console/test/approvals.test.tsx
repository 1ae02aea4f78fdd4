/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { AskingRuleState, DecidedApproval, WaitingApproval } from '@sluice/client';
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { asked, details, waiting } from './waiting.js';
import { ann, operator, problem, show } from './page.js';
import type { Answers } from './page.js';

const inbox = (...numbers: readonly number[]): Answers => ({
  'GET /v1/approvals': () => ({ approvals: numbers.map(waiting), next_cursor: null }),
  ...Object.fromEntries(numbers.map((n) => [`GET /v1/approvals/a-${n}`, () => details(n)])),
});

describe('The inbox of approvals', () => {
  it('shows what an approver needs, all of it as text', async () => {
    show('/approvals', inbox(1, 2));
    expect(await screen.findByText('Question 1 <img src=x onerror=alert(1)>')).toBeTruthy();
    expect(screen.getByText('Tool <b>2</b>')).toBeTruthy();
    expect(screen.getByText('Asked 2 <img src=x onerror=alert(1)>')).toBeTruthy();
    expect(screen.getByText('In <i>euros</i>.')).toBeTruthy();
    expect(screen.getByText('Pays <script>alert(1)</script>')).toBeTruthy();
    expect(screen.getByText('policy.approval asks for an approval of calls that change something.')).toBeTruthy();
    expect(screen.getByRole('region', { name: 'to' }).textContent).toContain('"name": "Bob"');
    expect(document.querySelector('img[src=x], script')).toBeNull();
  });

  it('is worked through by keyboard, with a step that confirms', async () => {
    const user = userEvent.setup();
    let sent: unknown = null;
    let isDecided = false;
    const taken = { decision: 'refuse', decided_by: 'user:ann', reason: 'Not on a Friday', still_needed: 0 };
    show('/approvals', {
      ...inbox(1, 2),
      'GET /v1/approvals': () => ({ approvals: (isDecided ? [1] : [1, 2]).map(waiting), next_cursor: null }),
      'GET /v1/approvals/a-2': () =>
        isDecided ? details(2, { decisions: [], decision: taken, decided_at: Date.now() }) : details(2),
      'POST /v1/approvals': ({ body }) => {
        sent = body;
        isDecided = true;
        return { approval_id: 'a-2', status: 'taken', outcome: taken };
      },
    });
    await screen.findByText(/^Question 1/);
    await user.keyboard('j');
    await screen.findByText(/^Question 2/);
    await user.keyboard('r');
    const dialog = await screen.findByRole('dialog', { name: 'Refuse this call?' });
    await user.keyboard('Not on a Friday');
    await user.click(within(dialog).getByRole('button', { name: 'Refuse' }));
    expect(await screen.findByText('Refused by you')).toBeTruthy();
    expect(sent).toMatchObject({
      ...{ approval_id: 'a-2', decision: 'refuse', reason: 'Not on a Friday', arguments_hash: 'hash-2' },
      requested_offset: 2,
    });
    expect(screen.queryByText(/Decided elsewhere/)).toBeNull();
  });

  it('lets an approver change the arguments, and says beside them what the schema does not take', async () => {
    const user = userEvent.setup();
    let sent: unknown = null;
    const taken = { decision: 'approve', decided_by: 'user:ann', reason: '', still_needed: 0 };
    const limited = { type: 'object', properties: { amount: { type: 'number', maximum: 20 } }, required: ['amount'] };
    const tool = { ...details(1).tool, input_schema: limited };
    show('/approvals', {
      ...inbox(1),
      'GET /v1/approvals/a-1': () => details(1, { tool }),
      'POST /v1/approvals': ({ body }) => {
        sent = body;
        return { approval_id: 'a-1', status: 'taken', outcome: taken };
      },
    });
    await user.click(await screen.findByRole('button', { name: 'Approve' }));
    const dialog = within(await screen.findByRole('dialog'));
    await user.click(dialog.getByRole('button', { name: 'Change the arguments' }));
    const editor = dialog.getByRole<HTMLTextAreaElement>('textbox', { name: 'Arguments as JSON' });
    expect(editor.value).toBe('{\n  "amount": 12\n}');
    await user.clear(editor);
    await user.click(editor);
    await user.paste('{"amount": 21}');
    expect(within(dialog.getByRole('list', { name: 'Faults' })).getByText(/must be at most 20/)).toBeTruthy();
    const approve = dialog.getByRole('button', { name: 'Approve as changed' });
    expect(approve.hasAttribute('disabled')).toBe(true);
    await user.clear(editor);
    await user.click(editor);
    await user.paste('{"amount": 4}');
    await user.click(dialog.getByRole('button', { name: 'Approve as changed' }));
    await waitFor(() => expect(sent).toMatchObject({ decision: 'approve', arguments: { amount: 4 } }));
  });

  it('shows how many of how many approved, who may still, what happens when time is up, and to whom it escalates', async () => {
    const user = userEvent.setup();
    const rule: AskingRuleState = {
      ...{ rule: 'rule', name: 'large', message: 'Two persons <b>are asked</b>.', quorum: 3, given: 1, needed: 2 },
      ...{ approvers: ['group:finance'], escalates_at: Date.now() + 60_000, escalate_to: ['group:board'] },
      ...{ escalated: false, on_expiry: 'run' },
    };
    const approved_by = [{ by: 'user:cem', at: Date.now(), rules: ['large'] }];
    const several = { rules: [rule], approved_by, still_needed: 2, on_expiry: 'run' } as const;
    show('/approvals', {
      ...inbox(1),
      'GET /v1/approvals': () => ({ approvals: [{ ...waiting(1), progress: several }], next_cursor: null }),
      'GET /v1/approvals/a-1': () => details(1, { progress: several }),
    });
    const rules = await screen.findByRole('list', { name: 'Rules that ask' });
    expect(within(rules).getByText('1 of 3')).toBeTruthy();
    expect(within(rules).getByText('Two persons <b>are asked</b>.')).toBeTruthy();
    expect(within(rules).getByText(/group:board may approve too from/)).toBeTruthy();
    expect(within(screen.getByRole('list', { name: 'Approvals so far' })).getByText(/user:cem/)).toBeTruthy();
    expect(screen.getByText('It runs without a decision.')).toBeTruthy();
    expect(screen.getByText(/2 approvals are missing/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Approve' }));
    const dialog = within(await screen.findByRole('dialog'));
    expect(dialog.getByText(/Yours is one of 2 approvals/)).toBeTruthy();
    expect(dialog.queryByRole('button', { name: 'Change the arguments' })).toBeNull();
  });

  it('decides on the calls of one turn at once, and says of each whether it counts', async () => {
    const user = userEvent.setup();
    let sent: { readonly decisions: readonly unknown[] } | null = null;
    // Two of one turn around one of another run; the list has the second call first.
    const ofTurn = (n: number, index: number): WaitingApproval => ({
      ...waiting(n),
      approval: { ...asked(n), request_id: 'run-1', session_id: 'run-1', index, others: [`a-${4 - n}`] },
    });
    const { asked: requests } = show('/approvals', {
      ...inbox(1, 2, 3),
      'GET /v1/approvals': () => ({ approvals: [ofTurn(3, 1), waiting(2), ofTurn(1, 0)], next_cursor: null }),
      'POST /v1/approvals/decisions': ({ body }) => {
        sent = body as typeof sent;
        const answer = { approval_id: 'a-1', status: 'published', outcome: null, not_taken: null, message: null };
        const other = { ...answer, approval_id: 'a-3', status: 'refused', not_taken: 'already_decided' };
        return { decisions: [answer, { ...other, message: 'Another decision <b>came</b> first.' }] };
      },
    });
    const turn = within(await screen.findByRole('region', { name: '2 calls of one turn' }));
    expect(turn.getAllByRole('link').map((link) => link.dataset['approval'])).toEqual(['a-1', 'a-3']);
    // Moving by keyboard goes as the list does.
    await screen.findByText(/^Question 1/);
    await user.keyboard('j');
    await screen.findByText(/^Question 3/);
    await user.click(turn.getByRole('button', { name: 'Refuse all' }));
    expect(await screen.findByRole('dialog', { name: 'Refuse these 2 calls?' })).toBeTruthy();
    await user.keyboard('Not both');
    await user.click(screen.getByRole('button', { name: 'Refuse all 2' }));
    const after = within(await screen.findByRole('dialog', { name: '1 of 2 are decided' }));
    expect(after.getByText('decided')).toBeTruthy();
    expect(after.getByText(/Another decision <b>came<\/b> first\. Nothing is left to decide/)).toBeTruthy();
    const each = { request_id: 'run-1', decision: 'refuse', reason: 'Not both', decided_by: 'user:ann' };
    expect(sent).toMatchObject({
      decisions: [
        { ...each, approval_id: 'a-1', arguments_hash: 'hash-1', requested_offset: 1 },
        { ...each, approval_id: 'a-3', arguments_hash: 'hash-3', requested_offset: 3 },
      ],
    });
    expect(requests.filter((one) => one.startsWith('POST'))).toEqual(['POST /v1/approvals/decisions']);
  });

  it('says who decided elsewhere', async () => {
    let isDecided = false;
    const decision = { decision: 'approve', decided_by: 'user:olga', reason: '', still_needed: 0 };
    show('/approvals', {
      ...inbox(1, 2),
      'GET /v1/approvals': () => ({ approvals: (isDecided ? [2] : [1, 2]).map(waiting), next_cursor: null }),
      'GET /v1/approvals/a-1': () => details(1, isDecided ? { decision, decisions: [] } : {}),
    });
    await screen.findByText(/^Question 1/);
    isDecided = true;
    expect(await screen.findByText(/was approved by user:olga/, {}, { timeout: 6_000 })).toBeTruthy();
  });

  it('says in words why a decision does not count', async () => {
    const user = userEvent.setup();
    show('/approvals', {
      ...inbox(1),
      'POST /v1/approvals': () =>
        problem(409, 'decision_not_taken', 'Another decision came first.', { not_taken: 'already_decided' }),
    });
    await user.click(await screen.findByRole('button', { name: 'Approve' }));
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Approve' }));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('Another decision came first. Nothing is left to decide.');
  });

  it('says what to do where nothing waits, and to whoever decides on nothing', async () => {
    show('/approvals', inbox());
    expect(await screen.findByText('No call waits for you.')).toBeTruthy();
    show('/approvals', inbox(), { ...ann, is_approver: false });
    await waitFor(() => expect(screen.queryByText('You decide on no calls.')).toBeTruthy());
  });

  it('lists what was decided, to operators too', async () => {
    const user = userEvent.setup();
    const refusal = { decision: 'refuse', decided_by: 'user:bob', reason: 'Too much <b>money</b>' };
    const decision = { ...refusal, still_needed: 0 };
    const listed: DecidedApproval = {
      ...{ approval_id: 'a-1', request_id: 'run-1', session_id: 'run-1', tool: 'core__tool-1', effect: 'state_change' },
      ...{ arguments: '{}', arguments_hash: 'hash-1', requested_by: 'user:eve', on_behalf_of: null, requested_at: 1 },
      ...{ ...refusal, decided_through: null, decided_at: Date.now(), config_version: 'c-1', verified: true },
    };
    show(
      '/approvals?tab=history',
      {
        'GET /v1/approvals/decided': () => ({ decisions: [listed], next_cursor: null }),
        'GET /v1/approvals/a-1': () => details(1, { decisions: [], decision, decided_at: Date.now() }),
      },
      { ...operator, is_approver: false },
    );
    expect(await screen.findByText('Too much <b>money</b>')).toBeTruthy();
    await user.click(screen.getByRole('link', { name: 'core__tool-1' }));
    expect(await screen.findByText(/^Refused by user:bob/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
  });
});
